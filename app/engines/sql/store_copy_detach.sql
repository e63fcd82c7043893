detach copied
