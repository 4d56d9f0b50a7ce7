"""Score texts with the service, in batches, with nothing but the standard library.

Start the service first: deadpan serve. Then: python detect.py "Great, another Monday." "It rains."
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence

URL = os.environ.get("DEADPAN_URL", "http://127.0.0.1:8080")
KEY = os.environ.get("DEADPAN_KEY", "")
BATCH = 1000


def detect(texts: Sequence[str]) -> Iterator[dict[str, object]]:
    """Yield one answer per text: {"id", "label", "score"}."""
    headers = {"content-type": "application/json", **({"authorization": f"Bearer {KEY}"} if KEY else {})}
    for start in range(0, len(texts), BATCH):
        body = json.dumps({"texts": texts[start : start + BATCH]}).encode()
        request = urllib.request.Request(f"{URL}/v1/detect", body, headers)
        try:
            with urllib.request.urlopen(request) as answer:
                yield from json.load(answer)["results"]
        except urllib.error.HTTPError as bad:
            raise SystemExit(json.load(bad)["error"]["message"]) from None
        except urllib.error.URLError as bad:
            raise SystemExit(f"no service at {URL} ({bad.reason}): start one with deadpan serve") from None


if __name__ == "__main__":
    for text, answer in zip(sys.argv[1:], detect(sys.argv[1:]), strict=True):
        score = "   -" if answer["score"] is None else f"{answer['score']:.2f}"
        print(f"{score}  {answer['label']:13}  {text}")
