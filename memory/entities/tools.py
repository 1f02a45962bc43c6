"""Tools and libraries by one name each, and what else each is called; a literal table.

Names that are words of everyday language too (`go`, `rust`, `spring`, `express`,
`vault`) are left out: a text would seem to speak of them where it does not.
"""

from collections.abc import Mapping
from typing import Final

# fmt: off
ALIASES: Final[Mapping[str, tuple[str, ...]]] = {  # first what the table calls it
    "airflow": (), "alembic": (), "ansible": (), "argocd": ("argo cd",), "aws": (), "azure": (),
    "bazel": (), "bigquery": ("big query",), "bitbucket": (), "cassandra": (), "celery": (),
    "circleci": ("circle ci",), "clickhouse": ("click house",), "cloudflare": (),
    "cloudformation": ("cloud formation",), "cloudfront": ("cloud front",),
    "cloudwatch": ("cloud watch",), "cockroachdb": ("cockroach db",), "datadog": (), "dbt": (),
    "debezium": (), "django": (), "docker": (), "dynamodb": ("dynamo db",), "ec2": (),
    "elasticsearch": ("elastic search",), "eslint": ("es lint",), "etcd": (),
    "fastapi": ("fast api",), "firebase": (), "flink": (), "gcp": ("google cloud",), "git": (),
    "github": ("git hub",), "gitlab": ("git lab",), "golang": (), "grafana": (),
    "graphql": ("graph ql",), "grpc": ("g rpc",), "gunicorn": (), "haproxy": ("ha proxy",),
    "helm": (), "heroku": (), "hibernate": (), "istio": (), "javascript": ("java script", "js"),
    "jenkins": (), "jira": (), "junit": (), "kafka": ("apache kafka",), "kibana": (), "kotlin": (),
    "kubernetes": ("k8s", "kube"), "laravel": (), "mariadb": ("maria db",),
    "memcached": ("memcache",), "mongodb": ("mongo", "mongo db"), "mysql": ("my sql",), "mypy": (),
    "nestjs": ("nest js",), "nextjs": ("next js",), "nginx": (), "nodejs": ("node js",), "npm": (),
    "numpy": ("num py",), "oauth": ("oauth2", "oauth 2", "o auth", "o auth2"), "okta": (),
    "openapi": ("open api",), "opentelemetry": ("open telemetry", "otel"), "pandas": (),
    "pgbouncer": ("pg bouncer",), "pgvector": (), "playwright": (),
    "postgresql": ("postgres", "postgre sql", "psql"), "prometheus": (),
    "protobuf": ("protocol buffers",), "psycopg": ("psycopg2", "psycopg 2", "psycopg3"),
    "pulumi": (), "pydantic": (), "pytest": (), "python": (), "pytorch": ("py torch",),
    "rabbitmq": ("rabbit mq",), "redis": (), "redshift": (), "s3": ("amazon s3", "aws s3"),
    "sentry": (), "sqlalchemy": ("sql alchemy",), "sqlite": ("sqlite3", "sq lite"), "sqs": (),
    "stripe": (), "tailwind": ("tailwindcss",), "tensorflow": ("tensor flow",), "terraform": (),
    "traefik": (), "typescript": ("type script", "ts"), "uvicorn": (), "valkey": (), "vite": (),
    "vitest": (), "webpack": (), "zookeeper": ("zoo keeper",), "zustand": (),
}
# fmt: on
CANONICAL: Final[Mapping[str, str]] = {
    alias: name for name, others in ALIASES.items() for alias in (name, *others)
}
WORDS: Final = frozenset(alias for alias in CANONICAL if alias.isalnum())  # names of one word
