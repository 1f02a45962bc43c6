"""Why the one-command start stops: one sentence that also says the way out.

StartError
├── HomeError      the data folder cannot be used: locked, not writable, disk full
├── PortError      the address for the web server is taken or not allowed
├── BinaryError    a server's program was not found or cannot run here
├── ServerError    a server did not become ready
└── StepError      a step of the first start failed
"""


class StartError(Exception):
    """The start cannot go on; the message is one sentence for the person who typed `make run`."""

    code = "start_failed"


class HomeError(StartError):
    """The data folder cannot be used."""

    code = "home_unusable"


class PortError(StartError):
    """The web address cannot be listened on."""

    code = "port_unusable"


class BinaryError(StartError):
    """A server program is missing or does not run on this machine."""

    code = "binary_unusable"


class ServerError(StartError):
    """A server did not become ready in time."""

    code = "server_not_ready"


class StepError(StartError):
    """A step of the start failed; what it printed is above the message."""

    code = "step_failed"
