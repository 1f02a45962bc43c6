"""The index of a project's code: files announced and sent, edges made, and how far it is."""
