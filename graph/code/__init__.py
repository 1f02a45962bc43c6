"""Code read and understood: files into symbols, references, chunks and edges (spec 5.2)."""
