"""A JSON document, and agents from PostgreSQL: Django, with SQL by hand."""

import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    SECRET_KEY="nothing is signed with this",
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "HOST": "/proc/self/cwd/data",
            "USER": "pong",
            "NAME": "pong",
        }
    },
)
django.setup()

from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connection  # noqa: E402
from django.http import JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402

COLUMNS = ("id", "name", "login", "status")


def index(request):
    return JsonResponse({"hello": "world"})


def agents(request):
    with connection.cursor() as cursor:
        cursor.execute("select id, name, login, status from agents order by id")
        rows = [dict(zip(COLUMNS, row, strict=True)) for row in cursor.fetchall()]
    return JsonResponse(rows, safe=False)


urlpatterns = [path("index", index), path("agents", agents)]
application = get_wsgi_application()
