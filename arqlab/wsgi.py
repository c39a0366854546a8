"""The WSGI entry point, which `manage.py serve` runs behind buffers (`arqlab.asgi`)."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arqlab.settings")

application = get_wsgi_application()
