"""The same pages for a WSGI server, without the gate: submissions answer 503 here. For development tools only; serve config.asgi."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()  # before anything that imports models

from exams.tokens import revocations  # noqa: E402

revocations.start()  # under ASGI the gate's lifespan does this
