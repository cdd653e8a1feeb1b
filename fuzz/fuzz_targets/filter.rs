//! Rules in the filter language.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| celero_tests::fuzz::filter(data));
