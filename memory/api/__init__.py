"""REST calls about memories: values in, one action or query, plain data out."""
