"""What an edge refuses before any action is asked: what cannot be read.

CairnError
├── MalformedRequest   400  not readable as what it says it is
└── UnsupportedMedia   415  a body in a format this call does not take
"""

from accounts.errors import CairnError


class MalformedRequest(CairnError):
    """The request cannot be read."""

    code = "malformed_request"
    status = 400
    title = "Malformed request"


class UnsupportedMedia(CairnError):
    """The body's format is not taken here."""

    code = "unsupported_media_type"
    status = 415
    title = "Unsupported media type"
