"""The commands of `cairn`, a module for each group."""
