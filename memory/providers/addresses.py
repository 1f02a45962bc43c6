"""Where an address leads; pure.

In the flow: `openai_compatible` decides by it whether texts stay on this machine, `deadline`
whether a proxy is asked.
"""

import ipaddress
from urllib.parse import urlsplit


def is_on_this_machine(*, url: str) -> bool:
    """Say whether an address is a loopback one."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name: it may lead anywhere
        return False
