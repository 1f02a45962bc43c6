"""Names of stored values, in the language of the reader; templates use them as filters."""
