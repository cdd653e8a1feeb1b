//! Live rules.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| celero_tests::fuzz::live(data));
