"""All benchmarks, one after another, at the sizes the documentation quotes."""

from tests.bench import bench_http, bench_start

if __name__ == "__main__":
    bench_start.main()
    bench_http.main(count=10_000)
