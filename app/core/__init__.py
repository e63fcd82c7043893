"""What is true: records, chunking, labels, metrics. No service, no screen."""
