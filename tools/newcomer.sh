#!/usr/bin/env bash
# A newcomer's first hour, checked: wheel, base install, the README's commands, the tutorials, notebooks, the site.
#   tools/newcomer.sh [FOLDER]        needs pip's index and about 2 GB; prints one line per step
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
place=${1:-$(mktemp -d)}
mkdir -p "$place"
place=$(cd "$place" && pwd)
python=$place/env/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1 PIP_CONSTRAINT=$root/constraints.txt DEADPAN_CACHE=$place/cache

step() {
  local start=$SECONDS
  printf '%-52s' "$1"
  shift
  if "$@" >"$place/log" 2>&1; then echo "ok, $((SECONDS - start)) s"; else echo failed; tail -20 "$place/log"; exit 1; fi
}
# What a page prints is compared by tests/test_docs.py; here its commands have to run with the extras that it names.
pages() { for page in "$@"; do cp "$root/$page" "$place/page.md"; "$python" "$root/tools/console.py" "$place/page.md"; done; }
extras() { sh -c "$("$python" -c 'import sys; from deadpan.errors import pip_install
print(pip_install(*sys.argv[1:], pip=sys.executable + " -m pip"))' "$@")"; }
site() {
  mkdir -p "$place/site"
  cp -r "$root/mkdocs.yml" "$root/docs" "$root/src" "$place/site"
  (cd "$place/site" && "$python" -m zensical build --strict)
}
size() { du -sm "$place/env" | cut -f1; }

step "wheel" "${PYTHON:-python3}" -m pip wheel --no-deps -w "$place/dist" "$root"
step "a fresh environment" "${PYTHON:-python3}" -m venv "$place/env"
step "base install" "$python" -m pip install "$place"/dist/deadpan-*.whl
echo "  $(size) MB; the wheel has $(du -m "$place"/dist/deadpan-*.whl | cut -f1) MB"
step "deadpan --version" "$place/env/bin/deadpan" --version
step "README" pages README.md
step "quickstart" pages docs/quickstart.md
step "tutorial: evaluate a language model" pages docs/tutorials/model-evaluator.md
step "extras train, plots" extras train plots
echo "  $(size) MB"
step "tutorial: score your own texts" pages docs/tutorials/detector-user.md
step "notebooks" "$python" "$root/tools/notebooks.py" --check "$root"/notebooks/*.ipynb
step "extra studio" extras studio
step "tutorial: run a study" pages docs/tutorials/annotation-lead.md
step "extra corpus" extras corpus
step "word vectors" "$place/env/bin/deadpan" models pull wordllama-256
step "tutorial: build a corpus" pages docs/tutorials/corpus-builder.md
step "doctor --fix" "$place/env/bin/deadpan" doctor --fix
step "extra docs" extras docs
step "the site" site
echo "all steps passed in $SECONDS s; $(size) MB in $place"
