"""Code read and understood: files into symbols, references and edges."""
