"""What agents do, read as behavior: events, the fold over them, signals, decisions."""
