"""Kinds of secrets by their published forms, each made up anew at run time.

A form is a template whose parts in braces are drawn: an alphabet's letter and a length. No value
stands in this file, and none was ever anybody's; a scanner over the repository finds nothing here.
"""

import base64
import json
import random
import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from accounts import token_format
from accounts.token_format import TokenKind

ALPHABETS: Final[Mapping[str, str]] = {
    "A": string.ascii_letters + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "L": string.ascii_lowercase + string.digits,
    "c": string.ascii_letters,
    "h": "0123456789abcdef",
    "d": string.digits,
    "t": string.ascii_uppercase + "234567",
    "w": string.ascii_letters + string.digits + "_-",
    "b": string.ascii_letters + string.digits + "+/",
}
PART: Final = re.compile(r"{([AULchdtwb])(\d+)}")
WORDS: Final = ("Tractor", "maple", "Quartz", "violet", "Harbor", "lantern", "Copper", "thistle")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind: its name, what a configuration calls it, and its form."""

    name: str
    variable: str
    form: str = ""
    make: Callable[[random.Random], str] | None = None
    is_line: bool = False  # it is a whole line of its own, not a value that is assigned
    around: tuple[str, str] = ("", "")  # what of a line is no secret

    def value(self, *, draw: random.Random) -> str:
        """Make one up."""
        return self.make(draw) if self.make is not None else filled(form=self.form, draw=draw)

    def heart(self, *, value: str) -> str:
        """Return the part that nobody could guess: the middle of what is secret."""
        before, after = self.around
        secret = value[len(before) : len(value) - len(after)]
        return secret[len(secret) // 3 : -len(secret) // 4].strip()


def filled(*, form: str, draw: random.Random) -> str:
    """Fill in the parts of a form."""

    def part(found: re.Match[str]) -> str:
        return "".join(draw.choices(ALPHABETS[found[1]], k=int(found[2])))

    return PART.sub(part, form)


def password(draw: random.Random) -> str:
    """Make up a password as people choose them: words, figures, a sign."""
    word = draw.choice(WORDS)
    return f"{word}{draw.choice('!#$%*?')}{draw.randrange(100, 9_999)}{draw.choice(WORDS)[:3]}"


def _own(draw: random.Random) -> str:
    kind = draw.choice(tuple(TokenKind))
    return token_format.mint(kind=kind, entropy=draw.randbytes(token_format.ENTROPY_BYTES)).text


def _jwt(draw: random.Random) -> str:
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": filled(form="{h24}", draw=draw), "iat": 17})
    head = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode() for part in parts)
    return ".".join((*(part.rstrip("=") for part in head), filled(form="{w43}", draw=draw)))


def _pem(name: str, lines: int) -> Callable[[random.Random], str]:
    def make(draw: random.Random) -> str:
        body = "\n".join(filled(form="{b64}", draw=draw) for _ in range(lines))
        return f"-----BEGIN {name}-----\n{body}\n-----END {name}-----"

    return make


def _with_password(form: str) -> Callable[[random.Random], str]:
    def make(draw: random.Random) -> str:
        return filled(form=form.replace("PASSWORD", password(draw)), draw=draw)

    return make


def _basic(draw: random.Random) -> str:
    return base64.b64encode(f"deploy:{password(draw)}".encode()).decode()


def _kind(name: str, variable: str, form: str) -> Kind:
    return Kind(name=name, variable=variable, form=form)


def _line(name: str, form: str) -> Kind:
    before, _, after = PART.sub("PASSWORD", form).partition("PASSWORD")
    return Kind(
        name=name,
        variable=name.upper(),
        make=_with_password(form),
        is_line=True,
        around=(before, after),
    )


def _block(name: str, make: Callable[[random.Random], str]) -> Kind:
    return Kind(name=name, variable=name.upper(), make=make, is_line=True)


SERVICES: Final = (
    _kind("github_classic", "GITHUB_TOKEN", "ghp_{A36}"),
    _kind("github_oauth", "GITHUB_OAUTH_TOKEN", "gho_{A36}"),
    _kind("github_app", "GITHUB_APP_TOKEN", "ghs_{A36}"),
    _kind("github_refresh", "GITHUB_REFRESH_TOKEN", "ghr_{A36}"),
    _kind("github_fine_grained", "GITHUB_TOKEN", "github_pat_{A22}_{A59}"),
    _kind("gitlab_personal", "GITLAB_TOKEN", "glpat-{w20}"),
    _kind("gitlab_trigger", "GITLAB_TRIGGER_TOKEN", "glptt-{h40}"),
    _kind("gitlab_deploy", "GITLAB_DEPLOY_TOKEN", "gldt-{w20}"),
    _kind("gitlab_runner", "GITLAB_RUNNER_TOKEN", "glrt-{w20}"),
    _kind("aws_access_key", "AWS_ACCESS_KEY_ID", "AKIA{t16}"),
    _kind("aws_session_key", "AWS_ACCESS_KEY_ID", "ASIA{t16}"),
    _kind("aws_secret_key", "AWS_SECRET_ACCESS_KEY", "{b40}"),
    _kind("google_api_key", "GOOGLE_API_KEY", "AIza{w35}"),
    _kind("google_client_secret", "GOOGLE_CLIENT_SECRET", "GOCSPX-{w28}"),
    _kind("google_access_token", "GOOGLE_ACCESS_TOKEN", "ya29.{w120}"),
    _kind("stripe_live", "STRIPE_SECRET_KEY", "sk_live_{A24}"),
    _kind("stripe_restricted", "STRIPE_RESTRICTED_KEY", "rk_live_{A24}"),
    _kind("stripe_test", "STRIPE_SECRET_KEY", "sk_test_{A24}"),
    _kind("stripe_webhook", "STRIPE_WEBHOOK_SECRET", "whsec_{A32}"),
    _kind("slack_bot", "SLACK_BOT_TOKEN", "xoxb-{d12}-{d12}-{A24}"),
    _kind("slack_user", "SLACK_USER_TOKEN", "xoxp-{d12}-{d12}-{d12}-{h32}"),
    _kind("slack_app", "SLACK_APP_TOKEN", "xapp-1-A{U10}-{d13}-{h64}"),
    _kind(
        "slack_webhook", "SLACK_WEBHOOK_URL", "https://hooks.slack.com/services/T{U10}/B{U10}/{A24}"
    ),
    _kind("openai_project", "OPENAI_API_KEY", "sk-proj-{w74}T3BlbkFJ{w74}"),
    _kind("openai_classic", "OPENAI_API_KEY", "sk-{A20}T3BlbkFJ{A20}"),
    _kind("anthropic", "ANTHROPIC_API_KEY", "sk-ant-api03-{w93}AA"),
    _kind("hugging_face", "HF_TOKEN", "hf_{c34}"),
    _kind("groq", "GROQ_API_KEY", "gsk_{A52}"),
    _kind("replicate", "REPLICATE_API_TOKEN", "r8_{A37}"),
    _kind("perplexity", "PERPLEXITY_API_KEY", "pplx-{A48}"),
    _kind("xai", "XAI_API_KEY", "xai-{A80}"),
    _kind("cohere", "COHERE_API_KEY", "{A40}"),
    _kind("npm", "NPM_TOKEN", "npm_{A36}"),
    _kind("pypi", "PYPI_TOKEN", "pypi-AgEIcHlwaS5vcmc{w120}"),
    _kind("rubygems", "RUBYGEMS_API_KEY", "rubygems_{h48}"),
    _kind("docker_hub", "DOCKER_TOKEN", "dckr_pat_{w27}"),
    _kind("sendgrid", "SENDGRID_API_KEY", "SG.{w22}.{w43}"),
    _kind("mailgun", "MAILGUN_API_KEY", "key-{h32}"),
    _kind("mailchimp", "MAILCHIMP_API_KEY", "{h32}-us12"),
    _kind("brevo", "BREVO_API_KEY", "xkeysib-{h64}-{A16}"),
    _kind("twilio_key", "TWILIO_API_KEY", "SK{h32}"),
    _kind("twilio_auth", "TWILIO_AUTH_TOKEN", "{h32}"),
    _kind("telegram", "TELEGRAM_BOT_TOKEN", "{d10}:AA{w33}"),
    _kind("discord_bot", "DISCORD_BOT_TOKEN", "M{A23}.{w6}.{w38}"),
    _kind("discord_webhook", "DISCORD_WEBHOOK", "https://discord.com/api/webhooks/{d18}/{w68}"),
    _kind("digitalocean", "DIGITALOCEAN_TOKEN", "dop_v1_{h64}"),
    _kind("heroku", "HEROKU_API_KEY", "HRKU-AA{w58}"),
    _kind("cloudflare", "CLOUDFLARE_API_TOKEN", "{w40}"),
    _kind("vault", "VAULT_TOKEN", "hvs.{w95}"),
    _kind("terraform_cloud", "TFE_TOKEN", "{A14}.atlasv1.{w64}"),
    _kind("datadog", "DATADOG_API_KEY", "{h32}"),
    _kind("new_relic", "NEW_RELIC_API_KEY", "NRAK-{U27}"),
    _kind("grafana_service", "GRAFANA_TOKEN", "glsa_{A32}_{h8}"),
    _kind("sentry", "SENTRY_AUTH_TOKEN", "sntryu_{h64}"),
    _kind("pagerduty", "PAGERDUTY_API_KEY", "u+{w18}"),
    _kind("shopify", "SHOPIFY_ACCESS_TOKEN", "shpat_{h32}"),
    _kind("square", "SQUARE_ACCESS_TOKEN", "EAAA{w60}"),
    _kind("azure_storage", "AZURE_STORAGE_KEY", "{b86}=="),
    _kind("azure_client_secret", "AZURE_CLIENT_SECRET", "{A3}8Q~{w34}"),
    _kind("databricks", "DATABRICKS_TOKEN", "dapi{h32}"),
    _kind("postman", "POSTMAN_API_KEY", "PMAK-{h24}-{h34}"),
    _kind("linear", "LINEAR_API_KEY", "lin_api_{A40}"),
    _kind("notion", "NOTION_TOKEN", "ntn_{d11}{A35}"),
    _kind("figma", "FIGMA_TOKEN", "figd_{w40}"),
    _kind("airtable", "AIRTABLE_TOKEN", "pat{A14}.{h64}"),
    _kind("atlassian", "ATLASSIAN_API_TOKEN", "ATATT3xFfGF0{w171}={U8}"),
    _kind("doppler", "DOPPLER_TOKEN", "dp.pt.{A43}"),
    _kind("planetscale", "PLANETSCALE_TOKEN", "pscale_tkn_{w43}"),
    _kind("supabase", "SUPABASE_ACCESS_TOKEN", "sbp_{h40}"),
    _kind("netlify", "NETLIFY_AUTH_TOKEN", "nfp_{A36}"),
    _kind("pulumi", "PULUMI_ACCESS_TOKEN", "pul-{h40}"),
    _kind("dropbox", "DROPBOX_TOKEN", "sl.{w136}"),
    _kind("okta", "OKTA_API_TOKEN", "00{w40}"),
    _kind("launchdarkly", "LAUNCHDARKLY_SDK_KEY", "sdk-{h8}-{h4}-4{h3}-a{h3}-{h12}"),
    _kind("mapbox", "MAPBOX_SECRET_TOKEN", "sk.eyJ1Ijoi{w60}.{w22}"),
    _kind("age", "AGE_KEY", "AGE-SECRET-KEY-1QQPQYR{t51}"),
    _kind("jfrog", "JFROG_API_KEY", "AKCp{A69}"),
    _kind("prefect", "PREFECT_API_KEY", "pnu_{L36}"),
    _kind("readme", "README_API_KEY", "rdme_{L70}"),
    _kind("typeform", "TYPEFORM_TOKEN", "tfp_{w59}"),
    _kind("dynatrace", "DYNATRACE_TOKEN", "dt0c01.{U24}.{U64}"),
    _kind("algolia", "ALGOLIA_ADMIN_KEY", "{h32}"),
    _kind("flutterwave", "FLUTTERWAVE_SECRET_KEY", "FLWSECK_TEST-{h32}-X"),
)
GENERAL: Final = (
    Kind(name="cairn_token", variable="CAIRN_TOKEN", make=_own),
    Kind(name="json_web_token", variable="SESSION_TOKEN", make=_jwt),
    Kind(name="password", variable="DB_PASSWORD", make=password),
    Kind(name="passphrase", variable="KEY_PASSPHRASE", make=password),
    _kind("django_secret_key", "SECRET_KEY", "{A30}&{A19}"),
    _kind("signing_key", "JWT_SIGNING_KEY", "{w48}"),
    _kind("encryption_key", "ENCRYPTION_KEY", "{b43}="),
    _kind("generic_api_key", "INTERNAL_API_KEY", "{A32}"),
    _kind("client_secret", "CLIENT_SECRET", "{w40}"),
    Kind(name="basic_authorization", variable="BASIC_AUTH_TOKEN", make=_basic),
    _block("rsa_key", _pem("RSA PRIVATE KEY", 8)),
    _block("ec_key", _pem("EC PRIVATE KEY", 3)),
    _block("pkcs8_key", _pem("PRIVATE KEY", 8)),
    _block("encrypted_key", _pem("ENCRYPTED PRIVATE KEY", 8)),
    _block("openssh_key", _pem("OPENSSH PRIVATE KEY", 6)),
    _block("pgp_key", _pem("PGP PRIVATE KEY BLOCK", 9)),
    _line("postgres_url", "postgresql://app:PASSWORD@db.internal:5432/shop"),
    _line("mysql_url", "mysql://root:PASSWORD@10.0.0.7/shop"),
    _line("mongodb_url", "mongodb+srv://svc:PASSWORD@cluster0.ab1cd.mongodb.net/x"),
    _line("redis_url", "redis://:PASSWORD@cache:6379/0"),
    _line("amqp_url", "amqp://worker:PASSWORD@queue:5672/%2f"),
    _line("basic_auth_url", "https://deploy:PASSWORD@registry.internal/v2/"),
    _line("git_url", "git clone https://oauth2:{A24}@git.internal/shop.git"),
    _line("jdbc_url", "jdbc:postgresql://db:5432/shop?user=app&password=PASSWORD"),
    _line("ado_net", "Server=db;Database=shop;User Id=sa;Password=PASSWORD;Encrypt=true"),
    _line("curl_user", "curl -u admin:PASSWORD https://api.internal/v1/health"),
    _line("bearer_header", 'curl -H "Authorization: Bearer {A40}" https://api.internal'),
    _line("mysql_option", "mysql -h db -u root -pPASSWORD shop"),
    _line("sshpass", "sshpass -p 'PASSWORD' ssh deploy@10.0.0.7"),
    _line("password_option", "psql-backup --host db --password PASSWORD --all"),
    _line("pgpass", "db.internal:5432:shop:app:PASSWORD"),
    _line("netrc", "machine git.internal login deploy password PASSWORD"),
    _line("npmrc", "//registry.internal/:_authToken={A36}"),
    _line("docker_auth", '{"auths": {"registry.internal": {"auth": "{A38}=="}}}'),
    _line("signed_address", "https://files.internal/a.zip?sv=2022-11-02&sp=r&sig={A43}%3D"),
)
KINDS: Final = (*SERVICES, *GENERAL)
