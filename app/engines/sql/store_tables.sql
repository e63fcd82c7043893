-- Every table with its columns as text, so that two stores can be held against one another.
select
    table_name as name,
    string_agg(
        concat_ws(' ', column_name, data_type, is_nullable, column_default), ', '
        order by column_index
    ) as columns
from duckdb_columns()
where database_name = current_database() and not internal
group by table_name
order by table_name
