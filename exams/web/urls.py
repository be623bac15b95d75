"""The addresses of the students' pages, and of those on which teachers mark."""

from django.urls import path

from exams.web import marking, overview, receipts, sitting

app_name = "exams"

urlpatterns = [
    path("exams/", overview.show_mine, name="mine"),
    path("exams/marking/", marking.show_exams, name="marking"),
    path("exams/marking/<uuid:exam_id>/", marking.mark_exam, name="marking-exam"),
    path("exams/receipts/", receipts.show_list, name="receipts"),
    path("exams/receipts/<uuid:receipt_id>/", receipts.show_one, name="receipt"),
    path("exams/receipts/<uuid:receipt_id>/receipt.json", receipts.download, name="receipt-file"),
    path("exams/attempts/<uuid:attempt_id>/", sitting.show, name="sitting"),
    path("exams/<uuid:exam_id>/", overview.show_one, name="exam"),
    path("exams/<uuid:exam_id>/attempts/", sitting.start, name="start"),
]
