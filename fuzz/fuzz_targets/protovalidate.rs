//! Rules of protovalidate, and messages that they judge.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| celero_tests::fuzz::protovalidate(data));
