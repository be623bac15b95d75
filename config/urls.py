"""Which address belongs to whom. The hot path, `POST /api/v1/attempts/{id}/submission`, never gets here: see asgi.py."""

from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from config.health.overall import healthz
from config.health.readiness import readyz
from config.login import AdminSignInForm, ChangePassword, SignInForm
from config.metrics.web import metrics
from config.pages import accessibility, favicon, home
from config.refusals import api_not_found

admin.site.login_form = AdminSignInForm

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home, name="home"),
    path(
        "accounts/login/",
        LoginView.as_view(authentication_form=SignInForm, redirect_authenticated_user=True),
        name="login",
    ),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("accounts/password/", ChangePassword.as_view(), name="password_change"),
    path("accessibility/", accessibility, name="accessibility"),
    path("favicon.ico", favicon, name="favicon"),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    # Django's own page for it lets the old password be guessed at without a bound.
    path("admin/password_change/", RedirectView.as_view(pattern_name="password_change")),
    path("admin/", admin.site.urls),
    path("console/", include("config.console.urls")),
    path("api/v1/schema", SpectacularAPIView.as_view(), name="api-schema"),
    path("api/v1/docs", SpectacularSwaggerSplitView.as_view(url_name="api-schema"), name="api-docs"),
    path("", include("exams.urls")),
    path("", include("gradebook.urls")),
    path("", include("projections.urls")),
    re_path(r"^api/(?P<rest>.*)$", api_not_found),
]

handler400 = "config.refusals.bad_request"
handler403 = "config.refusals.permission_denied"
handler404 = "config.refusals.page_not_found"
handler500 = "config.refusals.server_error"
