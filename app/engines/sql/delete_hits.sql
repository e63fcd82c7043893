delete from hits
where execution_ref in (
    select execution_ref from executions where execution in (select unnest($executions))
)
