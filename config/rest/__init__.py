"""The REST shell: what every call of `/api/v1/` goes through, whatever it asks (spec 8.1, 10.5)."""
