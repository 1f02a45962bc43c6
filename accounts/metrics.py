"""What is counted, for `/metrics`: every metric of the product, its labels and its unit.

A subject counts at the line where a thing happens; `config.metrics` adds what is read from Postgres
when it is asked for. Labels are names of the code (routes, stages, queues, points) or the
operator's own keys of models: never an id, a text or an organization, so the number of series is
bounded and none of them says anything of a tenant. Where PROMETHEUS_MULTIPROC_DIR names a folder,
the processes of a machine count in files there, and each of them can answer for all; otherwise a
process counts for itself. Counting a request takes 7 µs (tests/bench/bench_metrics.py).
"""

from typing import Final

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics

disable_created_metrics()  # a series more for each, which nobody reads

SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # of a request
STAGE_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
JOB_BUCKETS: Final = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0)
LIVE: Final = "livesum"  # over the processes that run

REQUESTS: Final = Counter(
    "cairn_http_requests", "Requests that were answered.", ("route", "method", "status")
)
REQUEST_SECONDS: Final = Histogram(
    "cairn_http_request_seconds",
    "From the arrival of a request to the head of its answer.",
    ("route", "method"),
    buckets=SECONDS,
)
LIVE_PAGES: Final = Gauge(
    "cairn_live_pages", "Open pages that hear of changes.", multiprocess_mode=LIVE
)
SEARCH_SECONDS: Final = Histogram(
    "cairn_search_seconds", "Whole searches.", ("outcome",), buckets=SECONDS
)
SEARCH_STAGE_SECONDS: Final = Histogram(
    "cairn_search_stage_seconds", "Stages of searches.", ("stage",), buckets=STAGE_SECONDS
)
SEARCHES_DEGRADED: Final = Counter(
    "cairn_searches_degraded", "Searches that lacked something.", ("missing",)
)
JOB_SECONDS: Final = Histogram(
    "cairn_job_seconds",
    "Runs of jobs, by how they ended.",
    ("name", "queue", "outcome"),
    buckets=JOB_BUCKETS,
)
MODEL_CALL_SECONDS: Final = Histogram(
    "cairn_model_call_seconds",
    "Calls of models of vendors, each try counted; the outcome is `ok` or the code of the error.",
    ("provider", "outcome"),
    buckets=SECONDS,
)
MODEL_TOKENS: Final = Counter(
    "cairn_model_tokens", "Tokens of chat models, as the vendor counts.", ("model", "direction")
)
MODEL_COST: Final = Counter(
    "cairn_model_cost", "What chat models cost by CAIRN_MODEL_PRICES, in its currency.", ("model",)
)
INJECTIONS: Final = Counter(
    "cairn_injections", "Memories that agents were given unasked.", ("point",)
)
INJECTION_OUTCOMES: Final = Counter(
    "cairn_injection_outcomes",
    "What came of injected memories, known when a session ends.",
    ("point", "outcome"),
)
POOL_CONNECTIONS: Final = Gauge(
    "cairn_database_pool_connections",
    "Connections to Postgres that processes hold.",
    ("program", "state"),
    multiprocess_mode=LIVE,
)
POOL_WAITING: Final = Gauge(
    "cairn_database_pool_waiting",
    "Threads that wait for a connection to Postgres.",
    ("program",),
    multiprocess_mode=LIVE,
)
PROCESSES: Final = Gauge(
    "cairn_processes", "Processes that run.", ("program",), multiprocess_mode=LIVE
)
PROCESS_MEMORY: Final = Gauge(
    "cairn_process_resident_bytes",
    "Memory that processes hold.",
    ("program",),
    multiprocess_mode=LIVE,
)
