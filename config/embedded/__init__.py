"""The one-command start: servers, web, worker and beat under one supervisor."""
