#!/usr/bin/env bash
# A newcomer's first hour, checked: wheel, base install, the README's commands, the tutorials, notebooks, the site.
#   tools/newcomer.sh [FOLDER]        needs pip's index and about 2 GB; prints one line per step
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
place=${1:-$(mktemp -d)}
mkdir -p "$place"
step() { printf '%-58s' "$1"; shift; if "$@" >"$place/log" 2>&1; then echo ok; else echo failed; tail -20 "$place/log"; exit 1; fi; }
python=$place/env/bin/python

step "wheel" "${PYTHON:-python3}" -m pip wheel -q --disable-pip-version-check --no-deps -w "$place/dist" "$root"
step "a fresh environment" "${PYTHON:-python3}" -m venv "$place/env"
wheel=$(ls "$place"/dist/deadpan-*.whl)
step "base install" "$python" -m pip install -q --disable-pip-version-check -c "$root/constraints.txt" "$wheel"
echo "base install: $(du -sm "$place/env" | cut -f1) MB, wheel $(du -m "$wheel" | cut -f1) MB"
step "deadpan --version" "$place/env/bin/deadpan" --version
# What a page prints is compared by tests/test_docs.py; here its commands have to run without the test extras.
pages() { for page in "$@"; do cp "$root/$page" "$place/page.md"; "$python" "$root/tools/console.py" "$place/page.md"; done; }
step "README" pages README.md
step "quickstart" pages docs/quickstart.md
step "tutorial: score your own texts" pages docs/tutorials/detector-user.md
step "tutorial: evaluate a language model" pages docs/tutorials/model-evaluator.md
more=$("$python" -c 'from deadpan.errors import pip_install; print(pip_install("studio", "corpus", "plots", pip="-m pip"))')
step "extras by the command that deadpan prints" sh -c "$python $more -q --disable-pip-version-check -c '$root/constraints.txt'"
step "word vectors" "$place/env/bin/deadpan" models pull wordllama-256
step "tutorial: run a study" pages docs/tutorials/annotation-lead.md
step "tutorial: build a corpus" pages docs/tutorials/corpus-builder.md
step "notebooks" "$python" "$root/tools/notebooks.py" --check "$root"/notebooks/*.ipynb
step "doctor --fix" "$place/env/bin/deadpan" doctor --fix
echo "all steps passed in $place"
