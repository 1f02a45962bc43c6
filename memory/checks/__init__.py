"""Work that is still ahead, held against what is known: plans and diffs."""
