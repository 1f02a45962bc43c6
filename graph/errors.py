"""What the graph refuses, as leaves of the common tree."""

from accounts.errors import Conflict, InvalidInput


class ManifestMismatch(InvalidInput, code="manifest_mismatch", title="File and hash differ"):
    """An uploaded file is not the one its hash promised."""


class IndexRunning(Conflict, code="index_running", title="Indexing is running"):
    """The project is being indexed already."""
