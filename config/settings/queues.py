"""Redis: cache, live updates, and waking workers. Nothing here is the only copy of anything."""

from config.settings.base import ENV

REDIS_URL = ENV["REDIS_URL"] or "redis://localhost:6379/0"
REDIS_TIMEOUT_S = 1  # a page never waits longer on a cache that is away
BROKER_TIMEOUT_S = 2  # more than the second for which a worker's own question may stay open
REDIS_TIMEOUTS = {
    "socket_timeout": REDIS_TIMEOUT_S,
    **({} if REDIS_URL.startswith("unix:") else {"socket_connect_timeout": REDIS_TIMEOUT_S}),
}

CACHES = {
    "default": {
        "BACKEND": "config.cache.SharedRedisCache",
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
HOOK_SECONDS = 2.5  # of the three that a hook waits; the rest is the way, ours
