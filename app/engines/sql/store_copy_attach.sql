attach $path as copied
