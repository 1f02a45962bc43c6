"""What agents need in their programs' files: put in, taken out, examined."""
