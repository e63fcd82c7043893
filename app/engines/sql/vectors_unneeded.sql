select count(*), coalesce(sum(length(key) + length(vector)), 0)
from vectors
where key not in (select value from json_each(?))
