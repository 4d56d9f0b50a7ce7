#!/usr/bin/env bash
# Checks the versions in constraints.txt for known faults with pip-audit. Ends with 1 if there is one, and with 0
# if none is known or no advisory database can be reached; the last line says which.
# PIP_AUDIT names another pip-audit; what follows on the command line goes to it.
set -u
cd "$(dirname "$0")/.."

audit=${PIP_AUDIT:-build/audit/bin/pip-audit}
if [ -z "${PIP_AUDIT:-}" ] && [ ! -x "$audit" ]; then
  # A place of its own: what it needs is not what deadpan needs.
  python3 -m venv build/audit && build/audit/bin/pip install -q --disable-pip-version-check pip-audit >build/audit.log 2>&1 || {
    rm -rf build/audit
    echo "deadpan: not checked: pip-audit cannot be installed here; see build/audit.log"
    exit 0
  }
fi

answer=$(mktemp -d)
trap 'rm -rf "$answer"' EXIT
if [ $# -gt 0 ]; then services=(given); else services=(pypi osv); fi
for service in "${services[@]}"; do
  if [ "$service" = given ]; then chosen=("$@"); else chosen=(--vulnerability-service "$service"); fi
  "$audit" --requirement constraints.txt --no-deps --disable-pip --progress-spinner off --desc off --timeout 5 \
    --format json --output "$answer/found.json" "${chosen[@]}" >"$answer/said" 2>&1
  # pip-audit ends well also when it knew none of the packages, so what counts is what it looked at.
  python3 - "$answer/found.json" <<'PYTHON'
import json, sys
try:
    with open(sys.argv[1], encoding="utf-8") as file:
        found = json.load(file)["dependencies"]
except (OSError, ValueError, KeyError):
    sys.exit(3)
seen = [each for each in found if "vulns" in each]
faulty = [each for each in seen if each["vulns"]]
for each in faulty:
    for fault in each["vulns"]:
        cure = ", ".join(fault.get("fix_versions") or []) or "none yet"
        print(f"{each['name']} {each['version']}: {fault['id']}; fixed in: {cure}")
if not seen:
    sys.exit(3)
unknown = len(found) - len(seen)
print(f"deadpan: {len(seen)} of {len(found)} pinned packages checked, {len(faulty)} with known faults"
      + (f"; {unknown} not in the database" if unknown else ""))
sys.exit(1 if faulty else 0)
PYTHON
  verdict=$?
  [ $verdict -ne 3 ] && exit $verdict
  rm -f "$answer/found.json"
done
mkdir -p build && cp "$answer/said" build/audit.log
echo "deadpan: not checked: no advisory database can be reached from here; see build/audit.log"
exit 0
