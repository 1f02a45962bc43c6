"""What stands below the graph's rows: the process in which untrusted code is parsed."""
