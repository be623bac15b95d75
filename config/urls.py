"""Which address belongs to whom. The hot path, `POST /api/v1/attempts/{id}/submission`, never gets here: see asgi.py."""

from importlib.util import find_spec

from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import URLPattern, URLResolver, include, path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from config.health import healthz
from config.pages import home
from config.refusals import api_not_found

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home, name="home"),
    path("accounts/login/", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("healthz", healthz, name="healthz"),
    path("admin/", admin.site.urls),
    path("api/v1/schema", SpectacularAPIView.as_view(), name="api-schema"),
    path("api/v1/docs", SpectacularSwaggerSplitView.as_view(url_name="api-schema"), name="api-docs"),
    *[
        path("", include(urls))
        for urls in ("exams.urls", "gradebook.urls", "projections.urls")
        if find_spec(urls)
    ],
    re_path(r"^api/(?P<rest>.*)$", api_not_found),
]

handler400 = "config.refusals.bad_request"
handler403 = "config.refusals.permission_denied"
handler404 = "config.refusals.page_not_found"
handler500 = "config.refusals.server_error"
