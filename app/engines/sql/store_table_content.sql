-- Reads every value of a table: what cannot be read fails here.
select count(*) as rows, coalesce(sum(hash(one)), 0)::varchar as content
from query_table($table) as one
