"""The generated isolation suite: every surface, asked by every role, about everything there is."""
