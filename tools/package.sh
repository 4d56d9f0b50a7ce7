#!/usr/bin/env bash
# Builds wheel and sdist, and installs the wheel into a fresh environment of each interpreter found (3.11 to 3.13):
# the program must answer, judge a sentence and say its version. Prints sizes. Needs hatchling, which is in
# deadpan[test].   [VERSIONS="3.13"] tools/package.sh [FOLDER]
set -eu
cd "$(dirname "$0")/.."
out=${1:-build/package}
rm -rf "$out" && mkdir -p "$out"
out=$(cd "$out" && pwd)
.venv/bin/python -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w "$out" .
.venv/bin/python - "$out" <<'PY'
import sys
from hatchling.builders.sdist import SdistBuilder
print(next(SdistBuilder(".").build(directory=sys.argv[1])))
PY
wheel=$(ls "$out"/*.whl)
size=$(stat -c %s "$wheel")
echo "wheel $((size / 1000)) kB, sdist $(($(stat -c %s "$out"/*.tar.gz) / 1000)) kB"
[ "$size" -lt 25000000 ] || { echo "the wheel is larger than 25 MB" >&2; exit 1; }
for version in ${VERSIONS:-3.11 3.12 3.13}; do
  python=$(command -v "python$version" || true)
  if [ -z "$python" ] || ! "$python" -c 'import venv' 2>/dev/null; then
    python=$(ls -d "$HOME"/.pyenv/versions/"$version".*/bin/python 2>/dev/null | tail -1)
  fi
  [ -n "$python" ] || { echo "python $version: not here"; continue; }
  rm -rf "$out/env" && "$python" -m venv "$out/env"
  "$out/env/bin/pip" install -q --disable-pip-version-check -c constraints.txt "$wheel" 2>/dev/null
  said=$(cd "$out" && env -u PYTHONPATH env/bin/deadpan --version)
  (cd "$out" && env -u PYTHONPATH env/bin/deadpan detect --json "Great, another Monday." >/dev/null)
  echo "python $version: $said, base install $(du -sm "$out/env" | cut -f1) MB"
done
rm -rf "$out/env"
