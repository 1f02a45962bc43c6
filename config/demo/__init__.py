"""The demo: real documents and a recorded session, brought in through the product's own doors."""
