"""What a process has loaded is not looked through for garbage again (goals of spec 4.1 and 4.6).

Python looks through every object it knows once enough new ones have come: half a million of them
after a start, a tenth of a second and more in the middle of some request. None of them ever goes.
"""

import gc


def keep_loaded() -> None:
    """Count all that stands in memory now as lasting. Called once, when everything is loaded."""
    gc.collect()
    gc.freeze()
