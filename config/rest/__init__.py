"""The REST shell: what every call of `/api/v1/` goes through, whatever it asks."""
