"""What gunicorn, and below it uvicorn, say: in the same form as everything else."""

import logging

from gunicorn.config import Config
from gunicorn.glogging import Logger

from config import settings
from config.logs.lines import make_line


class ServerLog(Logger):  # type: ignore[misc] # untyped
    """gunicorn's logger with our lines. uvicorn's worker takes its handlers over from here."""

    def setup(self, cfg: Config) -> None:
        """Set gunicorn's loggers up, then replace how they write."""
        super().setup(cfg)
        handler = logging.StreamHandler()
        handler.setFormatter(make_line(settings.LOG_FORMAT))
        self.error_log.handlers = [handler]
