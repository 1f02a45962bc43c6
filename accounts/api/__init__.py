"""REST calls about accounts, and the vocabulary in which every app declares its calls."""
