"""A JSON document, and agents from PostgreSQL: Django, with its ORM."""

import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF="app",
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
from django.db import models  # noqa: E402
from django.http import JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402


class Agent(models.Model):
    id = models.IntegerField(primary_key=True)
    name = models.TextField()
    login = models.TextField()
    status = models.TextField()

    class Meta:
        app_label = "pong"
        db_table = "agents"
        managed = False


def index(request):
    return JsonResponse({"hello": "world"})


def agents(request):
    rows = Agent.objects.order_by("id").values("id", "name", "login", "status")
    return JsonResponse(list(rows), safe=False)


urlpatterns = [path("index", index), path("agents", agents)]
application = get_wsgi_application()
