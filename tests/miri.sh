#!/usr/bin/env bash
# Runs the tests of what has `unsafe` under Miri, a few minutes each. It needs a nightly toolchain; Miri is installed where that is possible.
# Left out: generated code, calls of it and its pages (`jit/src`, `runtime/src/native`), which Miri can't run; tests of time; a test that
# maps pages.
set -euo pipefail
cd "$(dirname "$0")/.."
rustup component add miri rust-src --toolchain nightly || { echo "left out: Miri (no nightly toolchain has it)"; exit 0; }
export MIRIFLAGS=-Zmiri-disable-isolation
root=${CARGO_TARGET_DIR:-$PWD/target}/miri
searches=(search:: ascii:: json_simd:: --skip pattern --skip nothing_outside --skip time_is_linear)
few=(literals::few --skip wrong_comparisons --skip keys_that_were_found)
CARGO_TARGET_DIR=$root cargo +nightly miri test --locked -p celero-matching --lib -- "${searches[@]}"
# As on a processor that has them: Miri runs these instructions on every machine.
RUSTFLAGS="-C target-feature=+avx2,+ssse3,+sse4.2,+popcnt" CARGO_TARGET_DIR=$root/avx2 \
  cargo +nightly miri test --locked -p celero-matching --lib -- "${searches[@]}"
RUSTFLAGS="-C target-feature=+avx2,+ssse3,+sse4.2,+popcnt" CARGO_TARGET_DIR=$root/avx2 \
  cargo +nightly miri test --locked -p celero-matching --lib -- "${few[@]}"
CARGO_TARGET_DIR=$root cargo +nightly miri test --locked -p celero-limits --lib
# What borrows for longer than the compiler can see. Enums are read byte by byte after inline assembly, which Miri has not.
CARGO_TARGET_DIR=$root cargo +nightly miri test --locked -p celero --lib -- \
  accessors::text arena:: value::copy value::map value::lookup_cost
