"""`python -m cairn_client`, as `cairn`."""

from .cli import run

if __name__ == "__main__":
    run()
