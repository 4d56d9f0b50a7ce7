#!/usr/bin/env bash
# Lists the tests of what changed since the last commit, for `make check`: those that mirror a changed file, and the
# contract tests of its stage. Where nothing changed, the tests of the floor.
cd "$(dirname "$0")/.." || exit 2
always="tests/test_architecture.py tests/cli/test_program.py"
found=

contract() {
  case $1 in
    detect) echo tests/contracts/test_detectors.py ;;
    datasets|formats) echo tests/contracts/test_readers.py ;;
    corpus) echo tests/contracts/test_engines.py ;;
    studio) echo tests/contracts/test_protocols.py ;;
    registry.py) echo tests/contracts/test_plugins.py ;;
  esac
}

while read -r path; do
  rest=${path#src/deadpan/}
  stage=${rest%%/*}
  case $path in
    tests/*/*) found+=" ${path%/*}" ;;
    tests/test_*.py) found+=" $path" ;;
    src/deadpan/cli/*) name=${rest#cli/}; found+=" tests/cli/test_$(basename "${name%%/*}" .py).py tests/cli/${name%%/*}" ;;
    src/deadpan/*/*) found+=" tests/$stage tests/cli/test_$stage.py tests/cli/$stage $(contract "$stage")" ;;
    src/deadpan/*.py) found+=" tests/test_$(basename "$path") $(contract "$stage")" ;;
    docs/*|README.md) found+=" tests/test_docs.py" ;;
  esac
done < <(git diff --name-only HEAD; git ls-files --others --exclude-standard)
[ -n "$found" ] || found="$(ls tests/test_*.py | tr '\n' ' ') tests/stats"
for path in $always $found; do [ -e "$path" ] && echo "$path"; done | sort -u
