"""`python -m cairn_client`, as `cairn`."""

import sys

from .cli import main

sys.exit(main())
