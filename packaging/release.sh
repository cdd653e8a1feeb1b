#!/usr/bin/env bash
# What a release needs; docs/releasing.md explains it. Without arguments it checks the last commit and changes nothing.
#   packaging/release.sh check           versions, changelog, packages, advisories, the public API
#   packaging/release.sh build FOLDER    the binaries, built twice and compared, with checksums and what they are made of
#   packaging/release.sh publish         the crates, at a tag; needs CARGO_REGISTRY_TOKEN
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; "$@"; }
fail() { echo "release: $*" >&2; exit 1; }

version=$(awk '/^\[workspace.package\]/ { here = 1 } here && /^version = / { gsub(/"/, "", $3); print $3; exit }' Cargo.toml)
# The members of the workspace; `fuzz/` is a workspace of its own.
mapfile -t manifests < <(git ls-files -- '*/Cargo.toml' ':!fuzz')
mapfile -t unpublished < <(grep -l '^publish = false' "${manifests[@]}" |
  xargs awk '/^name = / && !seen[FILENAME]++ { gsub(/"/, "", $3); print "--exclude=" $3 }')

# Each crate has the version of the workspace, and depends on the others by that version.
versions() {
  local wrong
  wrong=$(grep -L '^version.workspace = true' "${manifests[@]}" || true)
  [ -z "$wrong" ] || fail "without the version of the workspace: $wrong"
  wrong=$(grep -E '^celero[a-z-]* = \{ path = ' Cargo.toml | grep -vF "version = \"$version\"" | grep -vE '"tests/' || true)
  [ -z "$wrong" ] || fail "not of version $version: $wrong"
  echo "version $version"
}

# The changelog begins with this version and says something of it.
changelog() {
  local heading
  heading=$(grep -m1 '^## ' CHANGELOG.md)
  [[ $heading == "## $version" || $heading == "## $version, "* ]] || fail "CHANGELOG.md begins with \"$heading\", not with $version"
  awk '/^## / { section++ } section == 1 && /^- / { found = 1 } END { exit !found }' CHANGELOG.md || fail "CHANGELOG.md says nothing of $version"
  [ "${1-}" = released ] && [[ $heading == *"not yet released" ]] && fail "CHANGELOG.md says that $version is not yet released"
  echo "$heading"
}

check() {
  step versions
  step changelog "$@"
  # Packages are made, not built: the tests built the same sources.
  step cargo package --workspace "${unpublished[@]}" --no-verify --locked
  if command -v cargo-deny >/dev/null; then step cargo deny check
  else echo "left out: advisories (cargo-deny is not installed)"; fi
  local tag
  tag=$(git describe --tags --abbrev=0 "HEAD^" 2>/dev/null || true)
  if [ -z "$tag" ]; then echo "left out: the API is compared with no release, because there is no tag"
  elif command -v cargo-semver-checks >/dev/null; then step cargo semver-checks --workspace "${unpublished[@]}" --baseline-rev "$tag"
  else echo "left out: the API is not compared with $tag (cargo-semver-checks is not installed)"; fi
}

binaries=(celero celero-proxy)

# Builds the last commit in a folder whose place nothing in the binaries may tell.
build_in() {
  mkdir -p "$1"
  git archive HEAD | tar -x -C "$1"
  (
    cd "$1"
    export CARGO_TARGET_DIR=$1/target CARGO_INCREMENTAL=0
    export RUSTFLAGS="--remap-path-prefix=$1=/celero --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
    cargo build --profile dist --locked -p celero-cli -p celero-proxy
  )
}

build() {
  local to=${1:?"packaging/release.sh build FOLDER"} platform name
  mkdir -p "$to"
  to=$(cd "$to" && pwd)
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  platform=$(rustc -vV | sed -n 's/^host: //p')
  step build_in "$work/first"
  step build_in "$work/second/at/another/place"
  name=celero-$version-$platform
  mkdir -p "$work/$name"
  for binary in "${binaries[@]}"; do
    cmp "$work/first/target/dist/$binary" "$work/second/at/another/place/target/dist/$binary" ||
      fail "two builds of $binary differ"
    cp "$work/first/target/dist/$binary" "$work/$name/"
  done
  echo "two builds of ${binaries[*]} are the same bytes"
  cp README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$work/$name/"
  # Every crate in the binaries, with its licence.
  for package in celero-cli celero-proxy; do
    cargo tree --locked -p "$package" -e normal,build --prefix none --no-dedupe -f '{p} {l}' | sed 's| (/[^)]*)||' | sort -u
  done | sort -u >"$work/$name/DEPENDENCIES"
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -C "$work" -czf "$to/$name.tar.gz" "$name"
  (cd "$to" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
  echo "wrote $to/$name.tar.gz"
}

publish() {
  [ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed"
  [ "$(git describe --tags --exact-match 2>/dev/null)" = "v$version" ] || fail "the commit has no tag v$version"
  [ -n "${CARGO_REGISTRY_TOKEN-}" ] || fail "CARGO_REGISTRY_TOKEN is not set"
  check released
  # In the order of their dependencies.
  step cargo publish --workspace "${unpublished[@]}" --locked
}

case ${1-check} in
  check) check ;;
  build) build "${2-}" ;;
  publish) publish ;;
  *) sed -n '2,5s/^# //p' "$0"; exit 2 ;;
esac
