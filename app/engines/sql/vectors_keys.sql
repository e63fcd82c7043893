select key from vectors
