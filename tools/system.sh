#!/usr/bin/env bash
# Installs what the tests need from the operating system, if it is missing and we may.
set -u
cd "$(dirname "$0")/.."

missing=()
while read -r program package why; do
  case $program in
    ''|'#'*) continue ;;
    /*) compgen -G "$program" >/dev/null && continue ;;
    *) command -v "$program" >/dev/null && continue ;;
  esac
  echo "missing: $program ($why), from the package $package"
  missing+=("$package")
done < tools/system.txt
[ ${#missing[@]} -eq 0 ] && exit 0

root=
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null && sudo -n true 2>/dev/null && root="sudo -n"
  [ -n "$root" ] || { echo "not root: tests that need them are skipped. Install: apt-get install ${missing[*]}"; exit 0; }
fi
command -v apt-get >/dev/null || { echo "no apt-get here: install ${missing[*]} by hand; tests that need them are skipped"; exit 0; }
echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
$root apt-get update -qq >/dev/null 2>&1
install() { $root apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1; }
# Together is faster, but apt installs nothing if a single package is unknown to it.
install "${missing[@]}" || for package in "${missing[@]}"; do
  install "$package" || echo "apt-get could not install $package: tests that need it are skipped"
done
exit 0
