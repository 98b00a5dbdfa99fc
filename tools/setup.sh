# Sourced by the scripts beside it: brings a fresh Debian 12 to a release build of Weft. Does nothing that is done already.
set -euo pipefail
# (Without any standard input bash gives its number to the pipe of a command substitution: programs would read what they have printed.)
[ -e /dev/fd/0 ] || exec < /dev/null
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# Which preset of CMakePresets.json is built and run.
use_preset() { preset=$1 weft=$root/build/$1/bin/weft tests=$root/build/$1/bin/weft_tests; }
use_preset release

say() { if [ -t 1 ]; then printf '\n\033[1m%s\033[0m\n' "$*"; else printf '\n%s\n' "$*"; fi; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# as_root COMMAND...: by sudo where this is not root. Fails where there is none.
as_root() {
  [ "$(id -u)" != 0 ] || { "$@"; return; }
  command -v sudo >/dev/null || { printf 'root or sudo is needed for: %s\n' "$*" >&2; return 1; }
  sudo "$@"
}

# install_missing PACKAGE...: installs those of these Debian packages that are missing, whatever another architecture has of them. Fails where they
# cannot be had, and says why.
install_missing() {
  local missing=() package log architecture
  architecture=$(dpkg --print-architecture 2>/dev/null || true)
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status} ${Architecture}\n' "$package" 2>/dev/null | grep -qxE "installed (all|$architecture)" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || { printf 'these Debian packages are needed: %s\n' "${missing[*]}" >&2; return 1; }
  say "Installing ${missing[*]}"
  log=$(mktemp)
  if { as_root apt-get update && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } > "$log" 2>&1; then
    rm -f "$log"
  else
    tail -n 20 "$log" >&2
    rm -f "$log"
    return 1
  fi
}

# Installs the Debian packages of tools/packages.txt that are missing, and those named.
install_packages() {
  local needed
  mapfile -t needed < tools/packages.txt
  install_missing "${needed[@]}" "$@" || die "apt-get could not install the packages"
}

# install_python NAME REQUIREMENT: a package of PyPI in an environment of its own, build/NAME. Fails where it cannot be had.
install_python() {
  say "Installing $2 (build/$1)"
  /usr/bin/python3 -m venv --clear "$root/build/$1" && "$root/build/$1/bin/pip" install --quiet --disable-pip-version-check "$2"
}

# build TARGET...: a build of these targets by the preset. Quiet when nothing is to be done; the log is kept in the build folder.
build() {
  local log=build/$preset/build.log start=$SECONDS
  mkdir -p "build/$preset"
  say "Building $* (build/$preset)"
  if [ ! -f "build/$preset/build.ninja" ]; then
    cmake --preset "$preset" > "$log" 2>&1 || { tail -n 40 "$log" >&2; die "cmake could not configure; its log is $log"; }
  fi
  if [ -t 1 ]; then
    cmake --build --preset "$preset" --target "$@" || die "the build failed"
  else
    cmake --build --preset "$preset" --target "$@" > "$log" 2>&1 || { grep -E -A6 'error|FAILED' "$log" | head -n 60 >&2; die "the build failed; its log is $log"; }
  fi
  echo "built in $((SECONDS - start)) s"
}

passed=0 failed=0 failures=()
count() { passed=$((passed + $1)); failed=$((failed + $2)); }
# note_failures NAME: of what this program said failed, each line of the input, or that something did where it named nothing.
note_failures() {
  local line named=
  while read -r line; do failures+=("$1: $line"); named=1; done < <(sort -u | head -n 20)
  [ -n "$named" ] || failures+=("$1: see its output")
}
# Ends a run of tests with what failed and "N passed, N failed". Fails where a test did.
summarize() {
  [ ${#failures[@]} = 0 ] || { say "Failed:"; printf '  %s\n' "${failures[@]}"; }
  echo
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}

# The tests that failed, of the log of a test program: Catch2 has a test's name between lines of dashes, once before all that it says.
named_in() {
  awk '/^-------------------------------------+$/ { inside = !inside; first = inside; next }
    first { name = $0; first = 0 }
    /: FAILED/ && name { print name; name = "" }' "$1"
}

# count_tests LOG [PROGRAM [TESTS]]: runs a test program, weft_tests unless another is named, all of it or the tests that are meant, and counts them.
# LOG: where its output goes besides.
count_tests() {
  local log=$1 tests=${2:-$tests} which=("${@:3}") all totals bad
  all=$("$tests" "${which[@]}" --list-test-names-only | grep -c . || true)
  # Each test's duration is a line of its own: on a terminal they show how far it is.
  "$tests" "${which[@]}" --durations yes 2>&1 | tee "$log" | awk -v all="$all" -v terminal="$([ -t 1 ] && echo 1)" '
    /^[0-9.]+ s: / { if (terminal) { printf "\r\033[K%d/%d %s", ++done, all, $3; fflush() } next }
    { if (terminal) printf "\r\033[K"; print }' || true
  totals=$(tail -n 3 "$log")
  if grep -q '^All tests passed' <<< "$totals"; then
    count "$all" 0
  elif bad=$(sed -nE 's/^test cases: .* ([0-9]+) failed.*/\1/p' <<< "$totals") && [ -n "$bad" ]; then
    count $((all - bad)) "$bad"
    note_failures "${tests##*/}" < <(named_in "$log")
  else
    echo "the test program ended early" >&2
    count 0 1
    note_failures "${tests##*/}" < <(named_in "$log" | sed '$s/^/ended early, at /')
  fi
}

# count_summary NAME COMMAND...: runs the command, whose last words are "NAME: N tests, M failed", and counts its tests.
count_summary() {
  local name=$1 output all bad
  shift
  { output=$("$@" | tee >(cat >&3)) || true; } 3>&1
  read -r all bad < <(sed -nE "s/^$name: ([0-9]+) [a-z]+, ([0-9]+) failed.*$/\\1 \\2/p" <<< "$output") || { all=1 bad=1; }
  count $((bad > all ? 0 : all - bad)) "$bad"
  # As the runners of Python and Node.js mark them.
  [ "$bad" = 0 ] || note_failures "$name" < <(sed -nE 's/^ *((FAIL|ERROR|✖).*)$/\1/p' <<< "$output")
}

# Runs the case files of the blocks and counts their cases.
count_cases() {
  local log=$1 cases_passed cases_failed
  "$weft" test tests/blocks | tee "$log" || true
  read -r cases_passed cases_failed < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed.*/\1 \2/p' "$log" | tail -n 1) || { cases_passed=0; cases_failed=1; }
  count "$cases_passed" "$cases_failed"
  [ "$cases_failed" = 0 ] || note_failures cases < <(sed -n 's/^failed //p' "$log")
}
