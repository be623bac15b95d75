"""Every value that may differ between two machines, read from the environment by django-environ.

`.env.example` lists exactly the variables read here; a test compares the two.
"""

from pathlib import Path
from urllib.parse import unquote

import django_stubs_ext
import environ

from config.postgres.place import APP_ROLE, Place

django_stubs_ext.monkeypatch()  # lets ModelAdmin[Exam] and the like be written at run time

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
environ.Env.read_env(BASE_DIR / env.str("ENV_FILE", default=".env"))

DEBUG = env.bool("DEBUG", default=False)
DATA_DIR = Path(env.str("HANDOVER_DATA", default=str(BASE_DIR / ".data"))).resolve()
SECRET_KEY = env.str("SECRET_KEY", default="insecure-development-key-change-me")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])

DATABASES = {"default": env.db("DATABASE_URL", default=Place(DATA_DIR).url(APP_ROLE))}
DATABASES["default"]["HOST"] = unquote(
    DATABASES["default"]["HOST"]
)  # a socket folder: postgres://me@%2Fvar%2Frun/name
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "projections",
    "exams",
    "gradebook",
    "outbox",
]
AUTH_USER_MODEL = "gradebook.User"

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
]
ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "config" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "config" / "static"]
STATIC_ROOT = DATA_DIR / "static"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = True
