"""What the graph refuses, as leaves of the common tree."""

from accounts.errors import Conflict, InvalidInput


class ManifestMismatch(InvalidInput):
    """An uploaded file is not the one its hash promised."""

    code = "manifest_mismatch"
    title = "File and hash differ"


class IndexRunning(Conflict):
    """The project is being indexed already."""

    code = "index_running"
    title = "Indexing is running"
