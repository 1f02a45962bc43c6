"""Files of other tools and our own exports, read into candidates and written again (spec 8.3)."""
