select collection, status, count(*) as executions
from executions
group by collection, status
order by collection, status
