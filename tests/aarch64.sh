#!/usr/bin/env bash
# Runs the tests of native code on aarch64: on such a machine, or under QEMU on Linux with x86-64, where building takes half an hour and
# running an hour. What it needs is installed where that is possible.
set -euo pipefail
cd "$(dirname "$0")/.."
target=aarch64-unknown-linux-gnu
if [ "$(uname -m)" != aarch64 ]; then
  if ! command -v qemu-aarch64 >/dev/null || ! command -v aarch64-linux-gnu-gcc >/dev/null; then
    { apt-get update && apt-get install --yes qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross; } ||
      { echo "left out: aarch64 (neither QEMU nor a linker is there)"; exit 0; }
  fi
  rustup target add "$target" || { echo "left out: aarch64 (rustup has no standard library for it)"; exit 0; }
  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
fi
cross() { cargo test --target "$target" --locked "$@"; }
# Left out: what calls the compiler, which has no standard library for the target there (`compile_fail`); what allows a real processor's time.
cross -p celero-frontend -p celero-ir -p celero-jit -p celero-matching -p celero --lib --tests -- \
  --skip compile_fail --skip a_rule_of_many_patterns_compiles_soon
cross -p celero-tests --test filetests
CELERO_DIFFERENTIAL_CASES=${CELERO_DIFFERENTIAL_CASES:-60000} \
  cross -p celero-tests --test it -- conformance:: differential:: hostile_expressions:: json:: random_
