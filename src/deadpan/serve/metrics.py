"""Counters and histograms in Prometheus' text format. They are changed on the event loop only."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict

from deadpan import __version__

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Requests by path and status, their duration, texts by model and answer, requests under way."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.answers: Counter[tuple[str, str]] = Counter()
        self.buckets: dict[str, list[int]] = defaultdict(lambda: [0] * (len(SECONDS) + 1))
        self.seconds: Counter[str] = Counter()
        self.under_way = 0

    def count(self, method: str, path: str, status: int, seconds: float) -> None:
        """Count a finished request."""
        self.requests[method, path, status] += 1
        self.buckets[path][bisect_left(SECONDS, seconds)] += 1
        self.seconds[path] += seconds  # type: ignore[assignment]

    def text(self) -> str:
        """Return everything in the text format."""
        lines = ["# HELP deadpan_info Version of the program.", "# TYPE deadpan_info gauge"]
        lines.append(f'deadpan_info{{version="{__version__}"}} 1')
        lines += ["# HELP deadpan_requests_total Finished requests.", "# TYPE deadpan_requests_total counter"]
        for (method, path, status), n in sorted(self.requests.items()):
            lines.append(f'deadpan_requests_total{{method="{method}",path="{path}",status="{status}"}} {n}')
        lines += ["# HELP deadpan_texts_total Texts judged, by model and answer.",
                  "# TYPE deadpan_texts_total counter"]  # fmt: skip
        for (model, answer), n in sorted(self.answers.items()):
            lines.append(f'deadpan_texts_total{{model="{_label(model)}",answer="{answer}"}} {n}')
        lines += ["# HELP deadpan_requests_in_progress Requests under way.",
                  "# TYPE deadpan_requests_in_progress gauge",
                  f"deadpan_requests_in_progress {self.under_way}",
                  "# HELP deadpan_request_seconds Time from a request to the last byte of its answer.",
                  "# TYPE deadpan_request_seconds histogram"]  # fmt: skip
        for path, counts in sorted(self.buckets.items()):
            below = 0
            for limit, n in zip((*map(str, SECONDS), "+Inf"), counts, strict=True):
                below += n
                lines.append(f'deadpan_request_seconds_bucket{{path="{path}",le="{limit}"}} {below}')
            lines.append(f'deadpan_request_seconds_sum{{path="{path}"}} {self.seconds[path]:.6f}')
            lines.append(f'deadpan_request_seconds_count{{path="{path}"}} {below}')
        return "\n".join(lines) + "\n"


def _label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
