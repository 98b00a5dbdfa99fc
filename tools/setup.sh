# Sourced by the scripts beside it: brings a fresh Debian 12 to a release build of Weft. Does nothing that is done already.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
weft=$root/build/release/bin/weft
tests=$root/build/release/bin/weft_tests

say() { if [ -t 1 ]; then printf '\n\033[1m%s\033[0m\n' "$*"; else printf '\n%s\n' "$*"; fi; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Installs the Debian packages of tools/packages.txt that are missing.
install_packages() {
  local missing=() package sudo=()
  while read -r package; do
    [ -z "$package" ] || dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' || missing+=("$package")
  done < tools/packages.txt
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || die "these Debian packages are needed: ${missing[*]}"
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die "root or sudo is needed to install: ${missing[*]}"
    sudo=(sudo)
  fi
  say "Installing ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { "${sudo[@]}" apt-get update && "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } > "$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    die "apt-get could not install the packages"
  fi
  rm -f "$log"
}

# build TARGET...: a release build of these targets. Quiet when nothing is to be done; the log is kept in the build folder.
build() {
  local log=build/release/build.log start=$SECONDS
  mkdir -p build/release
  say "Building $* (build/release)"
  if [ ! -f build/release/build.ninja ]; then
    cmake --preset release > "$log" 2>&1 || { tail -n 40 "$log" >&2; die "cmake could not configure; its log is $log"; }
  fi
  if [ -t 1 ]; then
    cmake --build --preset release --target "$@" || die "the build failed"
  else
    cmake --build --preset release --target "$@" > "$log" 2>&1 || { grep -E -A6 'error|FAILED' "$log" | head -n 60 >&2; die "the build failed; its log is $log"; }
  fi
  echo "built in $((SECONDS - start)) s"
}
