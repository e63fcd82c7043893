select free_blocks * block_size as free, total_blocks * block_size as total
from pragma_database_size()
where database_name = current_database()
