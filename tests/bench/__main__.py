"""All benchmarks, one after another, at the sizes the documentation quotes."""

from tests.bench import bench_http, bench_start, bench_walls

if __name__ == "__main__":
    bench_start.main()
    bench_http.main(count=10_000)
    bench_walls.main(count=10_000)
