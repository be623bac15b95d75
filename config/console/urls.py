"""The console's addresses."""

from django.urls import path

from config.console import views

app_name = "console"

urlpatterns = [
    path("", views.show, name="overview"),
    path("live/", views.show_live, name="live"),
    path("exams/<uuid:exam_id>/", views.show_exam, name="exam"),
    path("dead-letters/", views.dead_letters, name="dead_letters"),
    path("dead-letters/<uuid:letter_id>/", views.dead_letter, name="dead_letter"),
    path("effects/<int:receipt_id>/", views.effect, name="effect"),
    path("consumers/<slug:name>/", views.consumer, name="consumer"),
]
