//! Trees of expressions, binary and JSON.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| celero_tests::fuzz::trees(data));
