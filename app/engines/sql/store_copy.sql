copy from database desk to copied
