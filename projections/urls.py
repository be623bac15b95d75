"""Addresses of the history pages; the grid links to them by name and knows nothing else of this app."""

from django.urls import include, path

from projections.history import web

history = (
    [
        path("marksheets/<uuid:sheet_id>/history/", web.sheet_history, name="sheet"),
        path(
            "marksheets/<uuid:sheet_id>/history/cells/<uuid:column_id>/<uuid:student_id>/",
            web.cell_history,
            name="cell",
        ),
    ],
    "history",
)

urlpatterns = [path("", include(history))]
