"""Who may come in, and what a browser is told: sign-in, cookies, headers, rate limits."""

from urllib.parse import urlsplit

from config.settings.base import BASE_URL, ENV

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

EMAIL_BACKEND = (
    "django.core.mail.backends.smtp.EmailBackend"
    if ENV["CAIRN_EMAIL_HOST"]
    else "django.core.mail.backends.console.EmailBackend"
)
EMAIL_HOST = ENV["CAIRN_EMAIL_HOST"]
EMAIL_PORT = ENV["CAIRN_EMAIL_PORT"]
EMAIL_HOST_USER = ENV["CAIRN_EMAIL_USER"]
EMAIL_HOST_PASSWORD = ENV["CAIRN_EMAIL_PASSWORD"]
EMAIL_USE_TLS = True
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = ENV["CAIRN_EMAIL_FROM"]
