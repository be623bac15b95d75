"""Every value that may differ between two machines, read from the environment by django-environ.

`.env.example` lists exactly the variables read here; a test compares the two. The defaults are those of `make run`:
the embedded database and keys below `HANDOVER_DATA`, so that any `manage.py` command finds the running server untold.
"""

from pathlib import Path
from socket import gethostname
from typing import Any
from urllib.parse import quote, unquote

from csp.constants import NONE, SELF

from config.attachment_storage import read_attachment_storage
from config.environment import Environment, refuse
from config.keys import read_keys, read_secret_key
from config.logs.setup import FORMS, LEVELS, describe_logging
from config.postgres.place import APP_ROLE, COMMITS_HERE, NODE_NAMES, OWNER_ROLE, TrioPlace, find_place
from config.processes.address import write_place

BASE_DIR = Path(__file__).resolve().parent.parent
env = Environment()
env.read_file("ENV_FILE", default=BASE_DIR / ".env")

# --- This installation -------------------------------------------------------------------------------------------------

DEBUG = env.flag("DEBUG", default=False)
HTTPS = env.flag("HTTPS", default=not DEBUG)
DATA_DIR = env.folder("HANDOVER_DATA", default=BASE_DIR / ".data")
KEYS_DIR = env.folder("HANDOVER_KEYS", default=DATA_DIR / "keys")
SECRET_KEY = env.word("SECRET_KEY", default=read_secret_key(KEYS_DIR))
TOKEN_KEYS = read_keys(KEYS_DIR, "tokens")  # id → HMAC secret; the first signs, all verify
TOKEN_HOURS = env.positive("TOKEN_HOURS", default=12, most=24)  # how long a bearer token works, and a session
RECEIPT_KEYS = read_keys(
    KEYS_DIR, "receipts"
)  # id → Ed25519 private key (PEM); the first signs, all are published
HOST = env.interface("HOST", default="127.0.0.1")
PORT = env.count("PORT", default=8000, most=65_535)
WEB_CONCURRENCY = env.count("WEB_CONCURRENCY", default=2)
# Sockets of the pools that answer for students, and for everybody else (Procfile.pools); without them the web processes answer themselves.
STUDENT_SOCKET = env.socket("STUDENT_SOCKET")
PAGES_SOCKET = env.socket("PAGES_SOCKET")
POOL_CONCURRENCY = env.count("POOL_CONCURRENCY", default=1)  # processes of each pool
# Where several processes count together how often somebody tries.
REDIS_URL = env.address("REDIS_URL", schemes=("redis", "rediss", "unix"), like="redis://host:6379/1")
NAMED_HOSTS = env.hosts("ALLOWED_HOSTS")  # those by which others reach this site
ALLOWED_HOSTS = [*NAMED_HOSTS, "localhost", "127.0.0.1", "[::1]"]
# Proxies whose X-Forwarded-For says who the client is: by that, wrong passwords are counted.
FORWARDED_ALLOW_IPS = env.peers("FORWARDED_ALLOW_IPS", default=("127.0.0.1", "::1"))
CSRF_TRUSTED_ORIGINS = env.origins("CSRF_TRUSTED_ORIGINS")

# --- Database ----------------------------------------------------------------------------------------------------------
# `default` is the application's role: it cannot rewrite the log. `owner` owns the tables: `migrate --database owner`.

EMBEDDED = not env.word("DATABASE_URL")  # no server was named: use our own
_place = find_place(DATA_DIR)
_is_cluster = EMBEDDED and isinstance(_place, TrioPlace)
DURABILITY = env.one_of(
    "HANDOVER_DURABILITY", choices=("local", "quorum"), default="quorum" if _is_cluster else "local"
)
# With `quorum`: the names under which standbys count, and how many of them must have flushed.
STANDBYS = env.words("HANDOVER_STANDBYS", default=NODE_NAMES if _is_cluster else ())
STANDBYS_NEEDED = env.count("HANDOVER_STANDBYS_NEEDED", default=1)
if DURABILITY == "quorum" and len(STANDBYS) < STANDBYS_NEEDED:
    refuse(
        "HANDOVER_STANDBYS", f"names {len(STANDBYS)} servers; HANDOVER_STANDBYS_NEEDED is {STANDBYS_NEEDED}"
    )


# Over a network a host that has vanished says nothing, and would be waited for for a quarter of an hour. The address may say otherwise.
_VANISHED = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,  # milliseconds; the others are seconds
}


def _read_database(name: str, fallback: str, *, pool_size: int) -> dict[str, Any]:
    database = env.database(name, default=fallback)
    database["HOST"] = unquote(database["HOST"])  # a socket's folder: postgres://me@%2Fvar%2Frun/name
    options = database["OPTIONS"] = {**_VANISHED, **database.get("OPTIONS", {})}
    if pool_size:
        options["pool"] = {"min_size": 1, "max_size": pool_size, "timeout": 5}
    if (
        DURABILITY == "quorum"
    ):  # the gate waits by itself, pages behind their answer (config.middleware.safe_writes)
        options["options"] = f"{options.get('options', '')} {COMMITS_HERE}".strip()
    return database


_database_url = _place.url(APP_ROLE) if EMBEDDED else env.word("DATABASE_URL")
_owner_url = _place.url(OWNER_ROLE) if EMBEDDED else _database_url
DATABASES = {
    "default": _read_database(
        "DATABASE_URL", _database_url, pool_size=env.count("DATABASE_POOL_SIZE", default=0, least=0)
    ),
    "owner": {**_read_database("DATABASE_OWNER_URL", _owner_url, pool_size=0), "TEST": {"MIRROR": "default"}},
}
APP_ROLE_NAME = env.word("HANDOVER_APP_ROLE", default=APP_ROLE)
# How many requests Django works on at once in a process: fewer than it has connections, which probes and the list of tokens need too.
REQUESTS_AT_ONCE = max(1, (env.count("DATABASE_POOL_SIZE", default=0, least=0) or 10) - 2)
# How long an answer may take to begin, and a statement for one to run; commands, workers and migrations have no such bound.
PAGE_SECONDS = env.positive("PAGE_SECONDS", default=30, most=600)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
JOB_LEASE_SECONDS = env.positive("JOB_LEASE_SECONDS", default=60)  # how long a frozen worker keeps its jobs
JOB_RETENTION_DAYS = env.positive("JOB_RETENTION_DAYS", default=30)  # how long finished jobs are remembered

# --- What follows from events: the broker, mail, and other people's servers ------------------------------------------------
# A task is acknowledged after its work: to receive it twice is harmless, its receipt is in the database; to lose it is not.

CELERY_BROKER_URL = env.address(
    "CELERY_BROKER_URL",
    schemes=("amqp", "amqps", "redis", "rediss", "redis+socket"),
    like="amqp://user:password@host:5672/ or redis://host:6379/0",
)
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_SERIALIZER = "json"
CELERY_TASK_DEFAULT_QUEUE = "handover"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a broker may be away for as long as it likes
CELERY_BROKER_TRANSPORT_OPTIONS = {"confirm_publish": True}
CELERY_BEAT_SCHEDULE = {
    "planned work": {"task": "outbox.run_planned", "schedule": 60.0, "options": {"expires": 60}},
}

vars().update(env.mail("EMAIL_URL", default=f"filemail:///{quote(str(DATA_DIR / 'mail'))}"))
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.sender("EMAIL_FROM", default="Handover <handover@localhost>")
ACCESSIBILITY_CONTACT = env.mailbox("ACCESSIBILITY_CONTACT")
EMAIL_TIMEOUT = 20  # seconds; less than the lease of an effect
_site = env.site("SITE_URL", default=f"http://{write_place(HOST, PORT)}")
SITE_URL = _site.rstrip("/")
# Endpoints of webhooks inside a private network: only where everybody who may set one up is trusted with that network.
WEBHOOKS_MAY_CALL_PRIVATE = env.flag("WEBHOOKS_MAY_CALL_PRIVATE", default=DEBUG)
PROCTORING_URL = env.site("PROCTORING_URL")
PROCTORING_TOKEN = env.token("PROCTORING_TOKEN")

# --- Application -------------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "config",
    "config.late_admin.LateAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
    "projections",
    "exams",
    "gradebook",
    "outbox",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "config.statics.WholeFiles",
    "config.logs.requests.RequestLog",
    "config.middleware.privacy.PrivateAnswers",
    "config.middleware.odd_paths.OddPaths",
    "config.console.away.DatabaseAway",
    "config.middleware.safe_writes.SafeWrites",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "config.middleware.school_time.SchoolTimeMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
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

AUTH_USER_MODEL = "gradebook.User"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "/accounts/login/?out=1"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

# --- Languages: the texts are English, and so are days and moments (gradebook/moments.py); numbers are written and read as each person's browser asks

USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = True
FORMAT_MODULE_PATH = "config.formats"
LANGUAGE_CODE = "en"
LANGUAGES = [
    ("en", "English"),
    ("en-gb", "British English"),
    ("de", "Deutsch"),
    ("es", "Español"),
    ("fi", "Suomi"),
    ("fr", "Français"),
    ("it", "Italiano"),
    ("nl", "Nederlands"),
    ("pl", "Polski"),
    ("pt", "Português"),
    ("sv", "Svenska"),
]

# --- Static files ------------------------------------------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
WHITENOISE_ALLOW_ALL_ORIGINS = False
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = DEBUG
_STATIC_STORAGE = (
    "django.contrib.staticfiles.storage.StaticFilesStorage"
    if DEBUG
    else "config.statics.HashedStaticFilesStorage"
)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "attachments": read_attachment_storage(env.word("ATTACHMENTS_URL"), DATA_DIR / "attachments"),
    "staticfiles": {"BACKEND": _STATIC_STORAGE},
}

# --- What browsers may do ----------------------------------------------------------------------------------------------
# Everything comes from here and nothing is inline, so that text a student wrote can never run in a teacher's browser.

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "base-uri": [NONE],
        "connect-src": [SELF],
        "font-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "img-src": [SELF, "data:"],
        "script-src": [SELF],
        "style-src": [SELF],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
# At a computer of the school whoever comes next would be the one who closed the browser without signing out.
SESSION_EXPIRE_AT_BROWSER_CLOSE = True
SESSION_COOKIE_AGE = int(TOKEN_HOURS * 3600)  # seconds from the sign-in
SESSION_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "config.refusals.csrf_failure"
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
if env.flag("TRUST_PROXY", default=False):  # only behind a proxy that always sets this header itself
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024

# --- REST --------------------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "config.rest.LenientNegotiation",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "config.rest.handle_exception",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Handover",
    "DESCRIPTION": (BASE_DIR / "exams" / "api" / "description.md").read_text(encoding="utf-8"),
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "ENUM_NAME_OVERRIDES": {
        "AttemptState": "exams.api.attempts.SHOWN_STATES",
        "UploadState": "exams.api.attachments.SHOWN_STATES",
    },
}

# --- Log lines: one a line on stderr; the supervisor (or the container) keeps them ---------------------------------------

LOG_FORMAT = env.one_of("LOG_FORMAT", choices=FORMS, default="text")
LOG_LEVEL = env.one_of("LOG_LEVEL", choices=LEVELS, default="INFO")
LOGGING = describe_logging(form=LOG_FORMAT, level=LOG_LEVEL)

# --- Meters: without a token they are shown to this machine alone ---------------------------------------------------------

METRICS_TOKEN = env.token("METRICS_TOKEN")
METRICS_DIR = (
    DATA_DIR / "metrics" / gethostname()
)  # what the web processes of this machine count, in files they share
