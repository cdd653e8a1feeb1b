#!/usr/bin/env bash
# Runs every fuzz target for so many hours in all (one, by default), and keeps what it found in `fuzz/artifacts`.
# It needs a nightly toolchain and cargo-fuzz (`cargo install cargo-fuzz`).
set -euo pipefail
cd "$(dirname "$0")"
hours=${1:-1}
CELERO_FUZZ_SEEDS=$PWD/corpus cargo test --manifest-path ../Cargo.toml --package celero-tests --test it fuzz::seeds
mapfile -t targets < <(cargo +nightly fuzz list)
seconds=$(awk -v hours="$hours" -v count="${#targets[@]}" 'BEGIN { printf "%d", hours * 3600 / count }')
failed=()
for target in "${targets[@]}"; do
  printf '\n== %s: %s s\n' "$target" "$seconds"
  cargo +nightly fuzz run "$target" -- -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 2>&1 |
    tee "last-$target.log" | grep -E 'Done|stat::|SUMMARY|panicked' || failed+=("$target")
done
[ "${#failed[@]}" = 0 ] || { echo "found something: ${failed[*]}"; exit 1; }
