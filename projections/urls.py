"""Addresses of the history, of the sheet as it was, and of the figures; the grid links to them by name and knows nothing else of this app."""

from django.urls import include, path

from projections.analytics import web as analytics_web
from projections.asof import web as asof_web
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

analytics = (
    [
        path("marksheets/<uuid:sheet_id>/analytics/", analytics_web.sheet_analytics, name="sheet"),
        path("exams/<uuid:exam_id>/analytics/", analytics_web.exam_analytics, name="exam"),
    ],
    "analytics",
)

asof = (
    [path("marksheets/<uuid:sheet_id>/as-of/", asof_web.sheet_as_of, name="sheet")],
    "asof",
)

urlpatterns = [path("", include(history)), path("", include(analytics)), path("", include(asof))]
