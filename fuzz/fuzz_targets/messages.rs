//! Wire bytes of messages.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| celero_tests::fuzz::messages(data));
