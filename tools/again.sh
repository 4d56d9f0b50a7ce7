#!/usr/bin/env bash
# Runs the tests that just failed once more, one at a time, and names those that passed now: a test that depends on
# the load of the machine is a defect to mend, but no reason to throw a day's work away. One that fails twice fails.
cd "$(dirname "$0")/.." || exit 2
failed=$(.venv/bin/python - <<'PY'
import json, pathlib
cache = pathlib.Path(".pytest_cache/v/cache/lastfailed")
print("\n".join(json.loads(cache.read_text())) if cache.exists() else "")
PY
)
count=$(printf '%s' "$failed" | grep -c .)
# Nothing recorded (a crash, a stop by hand), or so much that it is no accident.
[ "$count" -ge 1 ] && [ "$count" -le 8 ] || exit 1
printf '\nonce more, one at a time:\n%s\n' "$failed"
.venv/bin/python -m pytest --last-failed --last-failed-no-failures none -p no:xdist --cov --cov-append --cov-report= "$@" || exit 1
printf '\nunstable, passed the second time (mend them):\n%s\n' "$failed"
