#!/usr/bin/env bash
# The tests of what changed since the last commit, for `make check`; all of the floor's where nothing did.
cd "$(dirname "$0")/.." || exit 2
always="tests/test_architecture.py tests/cli/test_program.py"
found=
while read -r path; do
  rest=${path#src/deadpan/}
  case $path in
    tests/*/*) found+=" ${path%/*}" ;;
    tests/test_*.py) found+=" $path" ;;
    src/deadpan/cli/*) found+=" tests/cli" ;;
    src/deadpan/*/*) found+=" tests/${rest%%/*}" ;;
    src/deadpan/*.py) found+=" tests/test_$(basename "$path")" ;;
    docs/*|README.md) found+=" tests/test_docs.py" ;;
  esac
done < <(git diff --name-only HEAD; git ls-files --others --exclude-standard)
[ -n "$found" ] || found="$(ls tests/test_*.py | tr '\n' ' ') tests/stats"
for path in $always $found; do [ -e "$path" ] && echo "$path"; done | sort -u
