"""The settings, all of them; what differs between machines comes from the environment.

`docs/operations.md` lists the variables. With `BASRA_DEVELOPMENT=yes` the site runs over plain
HTTP and needs no service; everything else is production.
"""

import os
import re
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet
from django.utils.csp import CSP

from basra_site.databases import database
from basra_site.env import Env
from basra_site.providers import from_environment as providers_from_environment

BASE_DIR = Path(__file__).resolve().parent.parent

env = Env(os.environ)

DEVELOPMENT = env.boolean("BASRA_DEVELOPMENT", default=False)
# Even in development errors are shown as players see them, unless this asks for more.
DEBUG = env.boolean("BASRA_DEBUG", default=False)
if DEBUG and not DEVELOPMENT:
    env.problem("set BASRA_DEBUG only together with BASRA_DEVELOPMENT=yes")

# Files the site writes: the queue without a broker, beat's schedule, mail in development.
VAR = Path(env.text("BASRA_VAR", str(BASE_DIR / "var"))).absolute()

# --- Secrets

SECRET_KEY = env.secret("SECRET_KEY", least=50)
SECRET_KEY_FALLBACKS = env.secrets("SECRET_KEY_FALLBACKS", "")

# Keys for what is encrypted in the database: the first encrypts, all decrypt.
CARD_KEYS: list[str] = env.secrets("BASRA_CARD_KEYS")
for key in CARD_KEYS:
    try:
        Fernet(key)
    except ValueError:
        env.problem(
            "set BASRA_CARD_KEYS to keys made by `python -m basra_site.keys`, separated by commas"
        )

# --- Addresses

ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]" if DEVELOPMENT else None)
if "*" in ALLOWED_HOSTS:
    # A link built from a hostile Host header would lead players elsewhere.
    env.problem("set ALLOWED_HOSTS to the site's own names, not to *")
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS", "")
# Only behind a proxy that sets X-Forwarded-Proto itself; from anybody else it would be a lie.
BEHIND_PROXY = env.boolean("BASRA_BEHIND_PROXY", default=False)
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# Where links in mails lead: mails are written by the queue, which sees no request.
SITE_URL = env.text("BASRA_URL", "http://localhost:8000" if DEVELOPMENT else None).rstrip("/")
if not re.fullmatch(
    r"https?://[A-Za-z0-9.:\[\]-]+" if DEVELOPMENT else r"https://[^/\s]+", SITE_URL
):
    env.problem("set BASRA_URL to the site's address, like https://basra.example")

# Who runs the site and how to reach them, for the pages on privacy and terms.
OPERATOR = env.text("BASRA_OPERATOR", "somebody on their own machine" if DEVELOPMENT else None)
CONTACT = env.text("BASRA_CONTACT", "nobody@localhost" if DEVELOPMENT else None)

# --- The application

ROOT_URLCONF = "basra_site.urls"
WSGI_APPLICATION = "basra_site.wsgi.application"
AUTH_USER_MODEL = "accounts.User"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "basra_site.apps.SiteConfig",
    "accounts",
    "games",
    "games.sealing",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    # allauth's pages say when in words.
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "django_htmx",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.facebook",
    "allauth.socialaccount.providers.google",
    "allauth.usersessions",
]

MIDDLEWARE = [
    # First, so that everything that is logged carries the request's id.
    "basra_site.middleware.RequestIdMiddleware",
    # What every answer carries, a refusal at the front door included.
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    # Before anything reads the request.
    "basra_site.middleware.FrontDoorMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "basra_site.middleware.SlidingSessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "accounts.preferences.PreferencesMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "accounts.middleware.GuestsSignInMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "accounts.presence.PresenceMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.messages.context_processors.messages",
                "games.context.waiting",
            ],
        },
    },
]

# --- The database

DATABASES: dict[str, Any] = {}
try:
    DATABASES["default"] = database(
        env.text("DATABASE_URL", f"sqlite:///{VAR}/basra.sqlite3" if DEVELOPMENT else None)
        or "sqlite:///unset",
        base=BASE_DIR,
    )
except ValueError as error:
    env.problem(str(error))

# --- What is counted for a while: tries at passwords, requests for codes

# Every process must see the same count, so memory of a process will not do.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "basra_site_cache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    }
}

# --- Language and time

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_TZ = True
TIME_ZONE = "UTC"

# --- Static files

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = Path(env.text("STATIC_ROOT", str(VAR / "static"))).absolute()
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEVELOPMENT
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
# In development files are served from where they are written, as they are now.
WHITENOISE_USE_FINDERS = DEVELOPMENT
WHITENOISE_AUTOREFRESH = DEVELOPMENT

# --- Sessions and cookies

# A browser accepts a __Host- cookie only over TLS, from this very host.
SESSION_COOKIE_NAME = "basra-session" if DEVELOPMENT else "__Host-session"
CSRF_COOKIE_NAME = "basra-csrf" if DEVELOPMENT else "__Host-csrf"
SESSION_COOKIE_AGE = 30 * 24 * 60 * 60
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = not DEVELOPMENT
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
CSRF_FAILURE_VIEW = "basra_site.errors.csrf_failure"

# --- Signing in

AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{validator}"}
    for validator in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "games:home"
# One proxy, ours; its word about where a request comes from is taken, nobody else's.
ALLAUTH_TRUSTED_PROXY_COUNT = int(BEHIND_PROXY)

ACCOUNT_ADAPTER = "accounts.adapters.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_CONFIRM_EMAIL_ON_GET = ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True
ACCOUNT_LOGIN_BY_CODE_ENABLED = True
ACCOUNT_LOGIN_BY_CODE_TIMEOUT = 15 * 60
ACCOUNT_LOGIN_BY_CODE_SUPPORTS_RESEND = True
# Whoever has read the mail has shown as much as by a mailed code.
ACCOUNT_LOGIN_ON_PASSWORD_RESET = True
ACCOUNT_FORMS = {
    "login": "accounts.sign_in_forms.LoginForm",
    "request_login_code": "accounts.sign_in_forms.RequestLoginCodeForm",
    "reset_password": "accounts.sign_in_forms.ResetPasswordForm",
    "signup": "accounts.sign_in_forms.SignupForm",
}
ACCOUNT_USER_DISPLAY = "accounts.account_mails.shown_name"
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_EMAIL_NOTIFICATIONS = ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "http" if DEVELOPMENT else "https"
# Whoever is locked out by somebody else's guessing gets in by a mailed code.
ACCOUNT_RATE_LIMITS = {"login_failed": "10/m/ip,20/5m/key"}

MFA_ADAPTER = "accounts.two_factors.MFAAdapter"
MFA_FORMS = {
    "add_webauthn": "accounts.sign_in_forms.AddPasskeyForm",
    "authenticate_webauthn": "accounts.sign_in_forms.AuthenticatePasskeyForm",
    "login_webauthn": "accounts.sign_in_forms.LoginPasskeyForm",
    "reauthenticate_webauthn": "accounts.sign_in_forms.ReauthenticatePasskeyForm",
}
MFA_SUPPORTED_TYPES = ["webauthn", "totp", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Basra"
# A clock may be half a minute wrong.
MFA_TOTP_TOLERANCE = 1
# A browser gives passkeys to plain HTTP on localhost alone.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = DEVELOPMENT

SOCIALACCOUNT_ADAPTER = "accounts.adapters.SocialAccountAdapter"
SOCIALACCOUNT_LOGIN_ON_GET = False
SOCIALACCOUNT_AUTO_SIGNUP = False
SOCIALACCOUNT_STORE_TOKENS = False
# Nobody gets into an account because another site says so of an address.
SOCIALACCOUNT_EMAIL_AUTHENTICATION = False
# Who comes from another site can play without an address, and without mail.
SOCIALACCOUNT_EMAIL_REQUIRED = False
SOCIALACCOUNT_EMAIL_VERIFICATION = "optional"
SOCIALACCOUNT_FORMS = {
    "disconnect": "accounts.another_site.UnlinkForm",
    "signup": "accounts.first_sign_in.FirstSignInForm",
}
_providers = providers_from_environment(env, development=DEVELOPMENT)
SOCIALACCOUNT_PROVIDERS = _providers.settings
INSTALLED_APPS += _providers.apps
# Whether friends who play are read at sign-in: Facebook has to have allowed the app to ask.
FACEBOOK_FRIENDS = _providers.facebook_friends

# --- What a request may carry

DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 50
DATA_UPLOAD_MAX_NUMBER_FILES = 0

# --- Transport and content

SECURE_SSL_REDIRECT = not DEVELOPMENT
# A health check comes from inside, over plain HTTP.
# A mail program's word that its reader wants no invitations is taken as it comes: RFC 8058.
SECURE_REDIRECT_EXEMPT = [r"^livez$", r"^readyz$", r"^invitations/never/"]
SECURE_HSTS_SECONDS = 0 if DEVELOPMENT else 365 * 24 * 60 * 60
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = not DEVELOPMENT
SECURE_REFERRER_POLICY = SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    # Chromium applies this to the redirect after a POST as well: a way to sign in elsewhere
    # needs its origin here.
    "form-action": [CSP.SELF, *_providers.origins],
    "base-uri": [CSP.NONE],
    "frame-ancestors": [CSP.NONE],
    "object-src": [CSP.NONE],
}

# --- Mail

SMTP_HOST = env.text("SMTP_HOST", "" if DEVELOPMENT else None)
MAILERS: dict[str, dict[str, Any]]
if DEVELOPMENT and not SMTP_HOST:
    MAILERS = {
        "default": {
            "BACKEND": "django.core.mail.backends.filebased.EmailBackend",
            "OPTIONS": {"file_path": str(VAR / "mail")},
        }
    }
else:
    MAILERS = {
        "default": {
            "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
            "OPTIONS": {
                "host": SMTP_HOST,
                "port": env.integer("SMTP_PORT", 587, least=1, most=65535),
                "username": env.text("SMTP_USER", ""),
                "password": env.secret("SMTP_PASSWORD", ""),
                "use_tls": env.boolean("SMTP_TLS", default=True),
                "timeout": 10,
            },
        }
    }
_options = MAILERS["default"]["OPTIONS"]
if bool(_options.get("username")) != bool(_options.get("password")):
    env.problem("set SMTP_USER and SMTP_PASSWORD both or neither")
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.text(
    "MAIL_FROM", "basra@localhost.localdomain" if DEVELOPMENT else None
)
if not re.fullmatch(
    r"(?:[^<>@\r\n]*<[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)", DEFAULT_FROM_EMAIL or "@"
):
    env.problem("set MAIL_FROM to an address like basra@basra.example")
# Who is told by mail about errors.
ADMINS = env.words("ADMINS", "")

# How many invitations by mail may go out. What is over a limit is not sent, and nobody is told.
INVITATIONS = {
    # Of one player; in the first day of an account fewer.
    "player_hour": 3,
    "player_day": 10,
    "new_player_day": 3,
    "player_open": 20,
    # To one address, of all players together: a day, and ever as long as nobody answers.
    "address_day": 1,
    "address_unanswered": 3,
    # To one domain, but for the large providers, where everybody has an address.
    "domain_day": 200,
    "site_day": env.integer("BASRA_INVITATIONS_A_DAY", 1000),
}
LARGE_MAIL_PROVIDERS = {
    "aol.com", "gmail.com", "gmx.de", "gmx.net", "googlemail.com", "hotmail.com", "icloud.com",
    "live.com", "mail.ru", "me.com", "msn.com", "outlook.com", "proton.me", "protonmail.com",
    "web.de", "yahoo.com", "yandex.ru",
}  # fmt: skip

# --- Background work

CELERY_BROKER_URL = env.secret("CELERY_BROKER_URL", "filesystem://")
if CELERY_BROKER_URL == "filesystem://":
    _folders = {
        "data_folder_in": VAR / "celery" / "queue",
        "data_folder_out": VAR / "celery" / "queue",
        "processed_folder": VAR / "celery" / "processed",
        "control_folder": VAR / "celery" / "control",
    }
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        **{option: str(folder) for option, folder in _folders.items()},
        "store_processed": False,
        "polling_interval": 0.5,
    }
else:
    _folders = {}
    CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 600}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_TIME_LIMIT = 60
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR / "celerybeat-schedule")
# The broker is only a doorbell; what must not be lost is a row that one of these sweeps finds.
# A message that waited longer than its interval would only repeat the next one.
CELERY_BEAT_SCHEDULE = {
    "finish computer replies": {
        "task": "games.tasks.finish_computer_replies",
        "schedule": 30.0,
        "options": {"expires": 30},
    },
    "close challenges": {
        "task": "games.tasks.close_challenges",
        "schedule": 5 * 60.0,
        "options": {"expires": 5 * 60},
    },
    "deliver waiting mails": {
        "task": "accounts.tasks.deliver_waiting_mails",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "look after data": {
        "task": "accounts.tasks.look_after_data",
        "schedule": 10 * 60.0,
        "options": {"expires": 10 * 60},
    },
    "keep time limits": {
        "task": "accounts.tasks.keep_time_limits",
        "schedule": 60 * 60.0,
        "options": {"expires": 60 * 60},
    },
    "heartbeat": {
        "task": "basra_site.tasks.beat_heart",
        "schedule": 30.0,
        "options": {"expires": 30},
    },
    "clear expired sessions": {
        "task": "basra_site.tasks.clear_expired_sessions",
        "schedule": 24 * 60 * 60.0,
        "options": {"expires": 60 * 60},
    },
}

# --- Logs

LOG_LEVEL = env.text("BASRA_LOG_LEVEL", "WARNING" if DEVELOPMENT else "INFO")
if LOG_LEVEL not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
    env.problem("set BASRA_LOG_LEVEL to DEBUG, INFO, WARNING or ERROR")
DEFAULT_EXCEPTION_REPORTER_FILTER = "basra_site.logging.NothingHiddenFilter"
LOGGING_CONFIG = "basra_site.logging.configure"
LOGGING = {"level": LOG_LEVEL, "mail": bool(ADMINS)}

env.finish()

for _folder in (VAR, *_folders.values()):
    _folder.mkdir(parents=True, exist_ok=True)
