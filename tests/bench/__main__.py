"""All benchmarks, one after another, at the sizes the documentation quotes: about ten minutes."""

from tests.bench import (
    bench_http,
    bench_ingest,
    bench_search,
    bench_start,
    bench_tenants,
    bench_walls,
)

if __name__ == "__main__":
    bench_start.main()
    bench_ingest.main(count=10_000)
    bench_search.main(sizes=bench_search.SIZES)
    bench_tenants.main(tenants=20, count=1_000)
    bench_http.main(count=10_000)
    bench_walls.main(count=10_000)
