"""What is done to the graph: one verb a file."""
