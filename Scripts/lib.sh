# Shared by the scripts of this folder; sourced, not run.
# shellcheck shell=bash disable=SC2034
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"

# The same flags for every target and every script, so that nothing is built twice. A warning is an error.
# SwiftPM keeps its plan next to the products and would take the plan of another package for its own; hence the second flag.
FLAGS=(-Xswiftc -warnings-as-errors --disable-build-manifest-caching)
# BUILD_FOR=once is for machines that build everything once and throw it away: whole modules, each read once, which is faster than
# parts of them unless only a file has changed; no debug information (functions have their names where a program crashes, and
# lines no number); and of the index only what says where the tests are. The last three take a third of the processor time away.
if [ "${BUILD_FOR:-}" = once ]; then
  for flag in -wmo -num-threads "$(nproc 2>/dev/null || echo 2)" -disable-batch-mode -no-emit-module-separately-wmo -gnone \
    -index-ignore-system-modules -index-ignore-clang-modules; do
    FLAGS+=(-Xswiftc "$flag")
  done
fi
# And for every build with tests, which are linked anew where it changes.
TEST_FLAGS=(--disable-xctest)

# One scratch path for the debug builds of all packages (CONTRIBUTING.md says what that was compared with), and one for
# each kind of build that compiles the same modules differently or must stand alone.
SCRATCH=$ROOT/.build/packages
LOGS=$ROOT/.build/logs
mkdir -p "$LOGS"

say() { printf '%s\n' "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }

# What `make bootstrap` says about an absent toolchain, for scripts that are run by hand: each of their builds would fail for itself.
need_swift() {
  command -v swift >/dev/null || fail "The Swift toolchain is missing. Install Swift 6.2 or later from https://www.swift.org/install"
}

# The folders of all packages that are built together, found by globbing: seams first, because everything needs them.
all_packages() {
  local manifest
  for manifest in Interop/*/Package.swift Packages/*/Package.swift Scripts/*/Package.swift Tests/*/Package.swift; do
    [ -f "$manifest" ] && dirname "$manifest"
  done
  return 0
}

# The consumers: small programs outside of the packages, each of which is built and run.
all_consumers() {
  local manifest
  for manifest in Tests/Consumers/*/Package.swift; do
    [ -f "$manifest" ] && dirname "$manifest"
  done
  return 0
}

# The folder of the package with this name, wherever it is.
package_folder() {
  local folder
  for folder in "Packages/$1" "Interop/$1" "Tests/$1" "Scripts/$1" "Tests/Consumers/$1" "$1"; do
    if [ -f "$folder/Package.swift" ]; then say "$folder"; return 0; fi
  done
  fail "There is no package '$1'. Known: $(all_packages | sed 's|.*/||' | tr '\n' ' ')"
}

# A name for the log of a folder.
log_for() { say "$LOGS/$1-${2//\//-}.log"; }

# Warnings that -warnings-as-errors does not reach: warnings of SwiftPM, of C compilers and of the linker.
WARNING="^warning: '|:[0-9]+:[0-9]+: warning: |^(ld|ld\.[a-z]+|lld): warning: "

# quietly LOG COMMAND...: runs the command with its output in LOG; shows the log when it fails or the build warns.
quietly() {
  local log=$1 status=0
  shift
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if [ "$status" = 0 ] && grep -qE "$WARNING" "$log"; then
    echo "A warning counts as an error." >>"$log"
    status=1
  fi
  [ "$status" = 0 ] || cat "$log"
  return "$status"
}

# with_progress WHAT LOG COMMAND...: as `quietly LOG COMMAND...`, and says every 15 seconds on the standard error output how far the
# build of SwiftPM is whose output is in LOG: from nothing it takes minutes.
with_progress() {
  local what=$1 log=$2 from=$EPOCHREALTIME reporter status=0
  shift
  report_progress "$what" "$log" "$from" $$ >/dev/null &
  reporter=$!
  quietly "$@" || status=$?
  kill "$reporter" 2>/dev/null || true
  wait "$reporter" 2>/dev/null || true
  return "$status"
}

# report_progress WHAT LOG START PARENT: ends with its parent, and takes its nap along when it is ended.
report_progress() {
  local nap step
  trap 'kill "$nap" 2>/dev/null; exit 0' TERM
  while kill -0 "$4" 2>/dev/null; do
    sleep "${PROGRESS_INTERVAL:-15}" 2>/dev/null &
    nap=$!
    wait "$nap" || return 0
    step=$(tail -c 4096 "$2" 2>/dev/null | tr '\r' '\n' | grep -oE '^\[[0-9]+/[0-9]+\]' | tail -n 1 || true)
    say "  ... $1: ${step:+step $step, }$(seconds_since "$3")" >&2
  done
}

# Says how long a build from nothing takes, where a folder of products is empty.
announce_build() {
  [ -d "$1" ] || say "Nothing is built yet. $2" >&2
}

seconds_since() { awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f s", to - from }'; }

# The modules that `make build` has made, and what a tool needs to load them: sets MODULES and the flags MODULE_FLAGS.
find_modules() {
  MODULES=$SCRATCH/debug/Modules
  [ -d "$MODULES" ] || fail "There is nothing in $SCRATCH: run \`make build\` first."
  MODULE_FLAGS=(-I "$MODULES")
  local map library flag
  # C modules are found by their maps; the maps of system libraries need the folders of the headers too.
  while read -r map; do MODULE_FLAGS+=(-Xcc "-fmodule-map-file=$map"); done < <(
    find "$ROOT"/Packages/*/Sources -name module.modulemap
    find -L "$SCRATCH/debug" -maxdepth 2 -path '*.build/module.modulemap')
  while read -r library; do
    for flag in $(pkg-config --cflags-only-I "$library" 2>/dev/null || true); do MODULE_FLAGS+=(-Xcc "$flag"); done
  done < <(sed -nE 's/.*pkgConfig: "([^"]*)".*/\1/p' Packages/*/Package.swift)
}
