"""Code read and understood: files into symbols, references, chunks and edges."""
