"""What pages show, as values: each module turns what queries return into what a template draws."""
