delete from executions where execution in (select unnest($executions))
