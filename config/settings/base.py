"""Settings every installation shares; the parts stand in files of their own beside this one."""

from django.utils.translation import gettext_lazy as _

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
    "accounts.middleware.SignInGuardMiddleware",
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
            ],
        },
    },
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
