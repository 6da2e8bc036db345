from django.http import HttpRequest, HttpResponse
from django.urls import path


def pong(request: HttpRequest) -> HttpResponse:
    return HttpResponse("Pong!")


urlpatterns = [path("", pong)]
