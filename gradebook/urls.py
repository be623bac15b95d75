"""The addresses of the gradebook: a teacher's mark sheets. Their history has its own, in the projections."""

from django.urls import path

from gradebook.api.marks import Marks
from gradebook.web import (
    amendments,
    cards,
    columns,
    exports,
    imports,
    notifications,
    schemes,
    sheets,
    terms,
    verify,
)

app_name = "gradebook"

urlpatterns = [
    path("notifications/", notifications.show_list, name="notifications"),
    path("notifications/read/", notifications.read_all, name="read_notifications"),
    path("notifications/<uuid:notification_id>/", notifications.open_one, name="open_notification"),
    path("marksheets/", sheets.my_sheets, name="my_sheets"),
    path("marksheets/<uuid:sheet_id>/", sheets.sheet_detail, name="sheet"),
    path("marksheets/<uuid:sheet_id>/marks", Marks.as_view(), name="marks"),
    path("marksheets/<uuid:sheet_id>/columns/new/", columns.add, name="add_column"),
    path("marksheets/<uuid:sheet_id>/columns/<uuid:column_id>/", columns.edit, name="edit_column"),
    path("marksheets/<uuid:sheet_id>/marks.csv", exports.export_text, name="export_text"),
    path("marksheets/<uuid:sheet_id>/marks.xlsx", exports.export_workbook, name="export_workbook"),
    path("marksheets/<uuid:sheet_id>/import/", imports.import_marks, name="import_marks"),
    path("marksheets/<uuid:sheet_id>/amendments/", amendments.of_sheet, name="amendments"),
    path("marksheets/<uuid:sheet_id>/totals/", schemes.show_totals, name="totals"),
    path("marksheets/<uuid:sheet_id>/totals/rules/", schemes.edit_rules, name="total_rules"),
    path("amendments/<uuid:amendment_id>/", amendments.show, name="amendment"),
    path("terms/<uuid:period_id>/cards/", cards.of_term, name="term_cards"),
    path("terms/<uuid:period_id>/cards/<uuid:class_id>/", cards.of_class, name="class_cards"),
    path("terms/<uuid:period_id>/cards/<uuid:class_id>/archive.zip", cards.archive, name="card_archive"),
    path("terms/<uuid:period_id>/cards/<uuid:class_id>/list/", cards.class_list, name="class_list"),
    path(
        "terms/<uuid:period_id>/cards/<uuid:class_id>/list.pdf", cards.class_list_pdf, name="class_list_pdf"
    ),
    path("cards/", cards.mine, name="my_cards"),
    path("cards/<uuid:card_id>/", cards.show, name="card"),
    path("cards/<uuid:card_id>/card.pdf", cards.pdf, name="card_pdf"),
    path("verify/", verify.verify, name="verify"),
    path("terms/", terms.show_list, name="terms"),
    path("terms/<uuid:period_id>/", terms.show, name="term"),
]
