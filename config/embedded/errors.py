"""Why the one-command start stops: one sentence that also says the way out."""


class StartError(Exception):
    """The start cannot go on; the message is one sentence for the person who typed `make run`."""


class HomeError(StartError):
    """The data folder cannot be used: locked, not writable, disk full."""


class BinaryError(StartError):
    """A server's program was not found or cannot run on this machine."""


class ServerError(StartError):
    """A server did not become ready in time."""
