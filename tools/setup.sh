#!/usr/bin/env bash
# Makes .venv with the extras named, once: `tools/setup.sh tour llm,plots` (a stamp says when it is done).
set -u
cd "$(dirname "$0")/.."
name=$1 extras=$2 room_mb=$3

fail() { echo "deadpan: $*" >&2; exit 2; }

stamp=.venv/.$name-$(cat pyproject.toml constraints.txt tools/setup.sh | cksum | cut -d' ' -f1)
[ -f "$stamp" ] && exit 0

python=
for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
  if command -v "$candidate" >/dev/null && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    python=$candidate
    break
  fi
done
[ -n "$python" ] || fail "needs Python 3.11 or newer: apt-get install python3"

free_mb=$(df -Pm . | awk 'NR == 2 { print $4 }')
[ "$free_mb" -ge "$room_mb" ] || fail "needs $room_mb MB of disk here, $free_mb MB are free: make room and run again"

if [ ! -x .venv/bin/python ] || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
  rm -rf .venv
  "$python" -m venv .venv >/dev/null 2>&1 || {
    rm -rf .venv
    fail "$python cannot make a virtual environment: apt-get install python3-venv"
  }
fi

echo "installing deadpan[$extras] into .venv (a few minutes the first time)"
log=$(mktemp)
if ! .venv/bin/python -m pip install -q -q --disable-pip-version-check -c constraints.txt -e ".[$extras]" >"$log" 2>&1; then
  cause=$(grep -E 'ERROR|error:' "$log" | grep -v 'No matching distribution' | head -1)
  mkdir -p build && cp "$log" build/pip.log
  fail "pip could not install the dependencies; is the network there? ${cause:-see} (build/pip.log)"
fi
rm -f "$log" .venv/."$name"-*
touch "$stamp"
