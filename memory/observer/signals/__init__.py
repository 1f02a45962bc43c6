"""The seventeen signals, one file each: `find` looks for one in a scratchpad."""
