"""The addresses of the exams app: the API for clients, the pages for students."""

from django.urls import include, path

urlpatterns = [
    path("api/v1/", include("exams.api.urls")),
    path("", include("exams.web.urls")),
]
