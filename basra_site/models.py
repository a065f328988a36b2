"""The one fact the site stores about itself."""

from django.db import models


class Heartbeat(models.Model):
    """When beat and worker last did a task together; one row."""

    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"heartbeat at {self.at.isoformat()}"
