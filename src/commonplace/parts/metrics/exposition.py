"""Metrics as Prometheus reads them, and a port for those of a run that no server of pages shows."""

from __future__ import annotations

import platform
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from itertools import accumulate
from threading import Thread

from prometheus_client import CollectorRegistry, MetricsHandler, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from commonplace.engine.meter import metered
from commonplace.errors import UsageError
from commonplace.parts.metrics.figures import BUCKETS, METRICS, RUN, Figures, Samples
from commonplace.run.manifest import package_version
from commonplace.run.place import Place
from commonplace.servers import is_loopback

HOST = "127.0.0.1"
FAMILIES = {"counter": CounterMetricFamily, "gauge": GaugeMetricFamily}


class Exposition:
    """Everything that is exposed at a moment: the samples of each run, by name, and those of this process."""

    def __init__(self, runs: Mapping[str, Samples], own: Samples | None = None) -> None:
        self._runs = runs
        self._own = {"commonplace_info": [((package_version(), platform.python_version()), 1)], **(own or {})}

    def collect(self) -> Iterator[Metric]:
        """Yields each metric that has a value, as `prometheus_client` asks for them."""
        yield from ProcessCollector(registry=None).collect()
        bounds = [*map(str, BUCKETS), "+Inf"]
        for name, row in METRICS.items():
            parts = self._runs if row.labels[:1] == RUN else {"": self._own}
            made = FAMILIES.get(row.kind, HistogramMetricFamily)(name, row.help, labels=row.labels)
            for run, samples in parts.items():
                for labels, value in samples.get(name, ()):
                    values = [run, *labels] if run else [*labels]
                    if isinstance(value, int | float):
                        made.add_metric(values, value)  # pyright: ignore[reportArgumentType, reportCallIssue]
                    else:
                        *counts, total = value
                        buckets = list(zip(bounds, accumulate(counts), strict=True))
                        made.add_metric(values, buckets, total)  # pyright: ignore[reportArgumentType]
            if made.samples:
                yield made

    def text(self, accept: str) -> tuple[bytes, str]:
        """Returns the text and its content type, in the format that a scraper accepts."""
        encoder, kind = choose_encoder(accept)
        return encoder(self), kind


@contextmanager
def exposed(port: int, run: Place) -> Generator[None]:
    """Counts what happens within the block, and shows it at `http://127.0.0.1:PORT/metrics`.

    Raises UsageError for a port that is taken.
    """
    figures = Figures()

    class Now:
        def collect(self) -> Iterator[Metric]:
            return Exposition({run.stem: figures.samples()}).collect()

    all_of_it = CollectorRegistry()
    all_of_it.register(Now())

    class Handler(MetricsHandler):
        registry = all_of_it

        def do_GET(self) -> None:  # noqa: N802 – the name in the standard library
            if is_loopback(f"http://{self.headers.get('Host', '')}"):
                super().do_GET()
            else:  # a name of another site, which was made to point here
                self.send_error(421)

    try:
        server = ThreadingHTTPServer((HOST, port), Handler)
    except OSError as error:
        what = f"{HOST}:{port} cannot be listened on ({error.strerror or error})"
        raise UsageError(what, hint="give another port with --metrics") from error
    thread = Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        with metered(figures):
            yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
