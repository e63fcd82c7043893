select count(*) filter (where key not in (select value from json_each(?))), count(*)
from vectors
