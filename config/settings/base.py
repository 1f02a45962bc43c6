"""Settings that every installation shares."""

from urllib.parse import urlsplit

import dj_database_url
from django.utils.translation import gettext_lazy as _

from accounts import timeouts
from config import env

ENV = env.read()
ROOT = env.ROOT
DEBUG = False
SECRET_KEY = ENV["CAIRN_SECRET_KEY"]
SECRET_KEY_FALLBACKS = list(ENV["CAIRN_SECRET_KEY_FALLBACKS"])
TOKEN_PEPPER = ENV["CAIRN_TOKEN_PEPPER"]
TOKEN_PEPPER_FALLBACKS = ENV["CAIRN_TOKEN_PEPPER_FALLBACKS"]
BASE_URL = ENV["CAIRN_BASE_URL"].rstrip("/")
CAIRN_HOME = ENV["CAIRN_HOME"]
BACKUP_TO = ENV["CAIRN_BACKUP_TO"]

SHARED_APPS = (
    "accounts",  # before django_tenants: its migrate command stands in for theirs
    "django_tenants",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.sites",
    "django.contrib.admin",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "rest_framework",
    "drf_spectacular_sidecar",
    "channels",
    "config",
    "frontend",
)
TENANT_APPS = ("teams", "graph", "memory")
INSTALLED_APPS = [*SHARED_APPS, *TENANT_APPS]
SITE_ID = 1
SILENCED_SYSTEM_CHECKS = ["auth.W004"]  # e-mails are unique by a constraint that ignores case

MIDDLEWARE = [
    "config.rest.requests.RequestMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "frontend.middleware.ContentSecurityPolicyMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "accounts.adapters.SignInGuardMiddleware",
    "frontend.middleware.PersonsLanguageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "frontend" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "frontend.context.page",
            ]
        },
    }
]

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("fr", _("French"))]
LOCALE_PATHS = [ROOT / "frontend" / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "/static/"
STATIC_ROOT = CAIRN_HOME / "static"
STATICFILES_DIRS = [ROOT / "frontend" / "static"]
WHITENOISE_USE_FINDERS = True

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_048_576  # bytes

# Database and tenants: one Postgres schema an organization, entered with SET LOCAL. Nothing is kept
# on a session, so a pooler between transactions may stand in front of Postgres; what each
# connection starts with is stored there (accounts.tenancy.rls). Programs connect as DATABASE_URL
# says. Where DATABASE_OWNER_URL is given, that role owns the tables and migrations run as it;
# otherwise one role is both.
POOL_MINIMUM = 1
POOL_MAXIMUM = 8  # connections a process; four times the cores of a small machine
RECONNECT_TIMEOUT_S = 5  # then the next request tries anew; the pool's own waits grow to minutes
CONNECTION_IDLE_S = 60  # then one of a burst is closed: a backend that has worked holds 20 MB
CONNECTION_LIFETIME_S = 1_800  # catalog caches grow with every tenant a backend has seen

DATABASES = {
    "default": {
        **dj_database_url.parse(
            ENV["DATABASE_URL"] or "postgresql://postgres@localhost/cairn",
            engine="accounts.tenancy",
        ),
        "OPTIONS": {
            "pool": {
                "min_size": POOL_MINIMUM,
                "max_size": POOL_MAXIMUM,
                "timeout": 10,
                "max_idle": CONNECTION_IDLE_S,
                "max_lifetime": CONNECTION_LIFETIME_S,
                "reconnect_timeout": RECONNECT_TIMEOUT_S,
                "connection_class": timeouts.PatientConnection,
            }
        },
        "DISABLE_SERVER_SIDE_CURSORS": True,  # they would outlive their transaction
    }
}
DATABASE_OWNER = (
    {
        part: value
        for part, value in dj_database_url.parse(ENV["DATABASE_OWNER_URL"]).items()
        if part in {"USER", "PASSWORD", "HOST", "PORT"}
    }
    if ENV["DATABASE_OWNER_URL"]
    else None
)
DATABASE_ROUTERS = ["django_tenants.routers.TenantSyncRouter"]
TENANT_MODEL = "accounts.Organization"
TENANT_DOMAIN_MODEL = "accounts.Domain"
SKIP_PG_EXTRA_VALIDATION = True  # otherwise every command queries the database when it loads

# Redis: cache, live updates, and waking workers. Nothing here is the only copy of anything.
REDIS_URL = ENV["REDIS_URL"] or "redis://localhost:6379/0"
REDIS_TIMEOUT_S = 1  # a page never waits longer on a cache that is away
BROKER_TIMEOUT_S = 2  # more than the second for which a worker's own question may stay open
REDIS_TIMEOUTS = {
    "socket_timeout": REDIS_TIMEOUT_S,
    **({} if REDIS_URL.startswith("unix:") else {"socket_connect_timeout": REDIS_TIMEOUT_S}),
}

CACHES = {
    "default": {
        "BACKEND": "config.throttling.SharedRedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": REDIS_TIMEOUTS,
    }
}
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [{"address": REDIS_URL, **REDIS_TIMEOUTS}], "prefix": "cairn"},
    }
}
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1)
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_PROC_ALIVE_TIMEOUT = 300  # seconds; one that starves is not replaced by another
CELERY_WORKER_MAX_TASKS_PER_CHILD = 1_000
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 20
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_timeout": BROKER_TIMEOUT_S,
    "socket_connect_timeout": REDIS_TIMEOUT_S,
    "max_retries": 0,
}
CELERY_TASK_PUBLISH_RETRY = False
JOB_SECONDS = ENV["CAIRN_JOB_SECONDS"]
JOB_MEMORY_MB = ENV["CAIRN_JOB_MEMORY_MB"]
CELERY_WORKER_MAX_MEMORY_PER_CHILD = JOB_MEMORY_MB * 1_024 // 2  # kB; a grown process is replaced
CELERY_TIMEZONE = "UTC"
REQUESTS_AT_WORK = ENV["CAIRN_REQUESTS_AT_WORK"]
REQUESTS_WAITING = ENV["CAIRN_REQUESTS_WAITING"]
HOOK_SECONDS = 2.5  # of the three that a hook waits; the rest is the way

# Who may come in, and what a browser is told: sign-in, cookies, headers, rate limits.
_HOST = urlsplit(BASE_URL).hostname or "localhost"
_SECURE = BASE_URL.startswith("https:")
_PREFIX = "__Host-" if _SECURE else ""  # browsers hold such a cookie to one host, path / and TLS

ALLOWED_HOSTS = [*ENV["CAIRN_ALLOWED_HOSTS"], _HOST, "localhost", "127.0.0.1", "[::1]"]
CSRF_TRUSTED_ORIGINS = [BASE_URL]
CSRF_FAILURE_VIEW = "frontend.views.errors.csrf_failed"
SESSION_ENGINE = "accounts.sessions"
SESSION_COOKIE_NAME = f"{_PREFIX}cairn"
CSRF_COOKIE_NAME = f"{_PREFIX}cairn-csrf"
LANGUAGE_COOKIE_NAME = f"{_PREFIX}cairn-language"
KNOWN_BROWSER_COOKIE = f"{_PREFIX}cairn-known"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = _SECURE
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = LANGUAGE_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"  # no cookie of its own
SESSION_COOKIE_AGE = 14 * 24 * 3600
SECURE_SSL_REDIRECT = False
SECURE_PROXY_SSL_HEADER = (
    ("HTTP_X_FORWARDED_PROTO", "https") if ENV["CAIRN_TRUSTED_PROXIES"] else None
)
SECURE_HSTS_SECONDS = 31_536_000 if _SECURE else 0
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/o/"
LOGOUT_REDIRECT_URL = "/"

ACCOUNT_ADAPTER = "accounts.adapters.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if ENV["CAIRN_EMAIL_HOST"] else "optional"
ACCOUNT_CONFIRM_EMAIL_ON_GET = False
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = False
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_RATE_LIMITS = {  # the key of a failed sign-in is the account, on whichever page
    "login_failed": "10/m/ip,5/5m/key",
    "reauthenticate": "5/5m/user",
    "change_password": "5/5m/user",
}
ALLAUTH_TRUSTED_PROXY_COUNT = ENV["CAIRN_TRUSTED_PROXIES"]
MFA_ADAPTER = "accounts.adapters.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not _SECURE
MFA_TOTP_ISSUER = "Cairn"

SENDS_MAIL = bool(ENV["CAIRN_EMAIL_HOST"])
EMAIL_BACKEND = (
    "django.core.mail.backends.smtp.EmailBackend"
    if SENDS_MAIL
    else "django.core.mail.backends.dummy.EmailBackend"  # never asked: links stay out of logs
)
EMAIL_HOST = ENV["CAIRN_EMAIL_HOST"]
EMAIL_PORT = ENV["CAIRN_EMAIL_PORT"]
EMAIL_HOST_USER = ENV["CAIRN_EMAIL_USER"]
EMAIL_HOST_PASSWORD = ENV["CAIRN_EMAIL_PASSWORD"]
EMAIL_USE_TLS = True
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = ENV["CAIRN_EMAIL_FROM"]

# Model providers: the local embedder needs nothing; others are switched on by their keys.
CAIRN_PROVIDERS = {
    "embedder": ENV["CAIRN_EMBEDDER"],
    "reranker": ENV["CAIRN_RERANKER"],
    "local_threads": ENV["CAIRN_EMBEDDER_THREADS"],
    "models_dir": ENV["CAIRN_MODELS"],
    "openai_base_url": ENV["CAIRN_OPENAI_BASE_URL"],
    "openai_api_key": ENV["CAIRN_OPENAI_API_KEY"],
    "openai_embedding_model": ENV["CAIRN_OPENAI_EMBEDDING_MODEL"],
    "openai_chat_model": ENV["CAIRN_OPENAI_CHAT_MODEL"],
    "openai_dimensions": ENV["CAIRN_OPENAI_DIMENSIONS"],
    "cohere_api_key": ENV["CAIRN_COHERE_API_KEY"],
    "cohere_base_url": ENV["CAIRN_COHERE_BASE_URL"],
}
EMBED_INLINE = ENV["CAIRN_EMBED_INLINE"]
KEEP_ACTIONS_DAYS = ENV["CAIRN_KEEP_ACTIONS_DAYS"]
KEEP_TURNS_DAYS = ENV["CAIRN_KEEP_TURNS_DAYS"]
CAIRN_MODEL_TOKENS_PER_MONTH = ENV["CAIRN_MODEL_TOKENS_PER_MONTH"]
CAIRN_MODEL_PRICES = ENV["CAIRN_MODEL_PRICES"]

# Metrics: who may read them, and where a worker answers that shares no folder with a web process.
METRICS_TOKEN = ENV["CAIRN_METRICS_TOKEN"]
METRICS_ORGANIZATIONS = ENV["CAIRN_METRICS_ORGANIZATIONS"]
METRICS_HOST = ENV["CAIRN_HOST"]
METRICS_PORT = ENV["CAIRN_METRICS_PORT"]

REST_FRAMEWORK = {"UNAUTHENTICATED_USER": None}  # the rest stands at the view (config.rest.views)

# Logs: one line a record, with organization and request, never content.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "config.telemetry.LineFormatter"},
        "json": {"()": "config.telemetry.JsonFormatter"},
    },
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": ENV["CAIRN_LOG_FORMAT"]}
    },
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        "cairn.requests": {"level": "INFO" if ENV["CAIRN_LOG_FORMAT"] == "json" else "WARNING"},
        "django.request": {"level": "ERROR"},
        "django.channels.server": {"level": "WARNING"},
        "celery": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
        "uvicorn.access": {"level": "WARNING"},
        "mcp": {"level": "WARNING"},
    },
}
