"""What models are asked: one text a call beside this module, and the schemas of their answers."""
