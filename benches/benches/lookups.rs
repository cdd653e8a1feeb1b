//! Header sets and searches for text in text, under divan.
#![expect(clippy::expect_used, reason = "a benchmark whose preparation fails has nothing to measure")]

use celero_benches::lookups::{Hit, Misses, haystack, headers, search, w13};
use divan::Bencher;

fn main() {
    divan::main();
}

/// Times the way at a place, if it agrees with the first.
fn run(bencher: Bencher<'_, '_>, contenders: &[celero_benches::lookups::Contender], name: &str) {
    let (_, first) = contenders.first().expect("a way");
    let Some((_, way)) = contenders.iter().find(|(way, _)| *way == name) else { return };
    assert_eq!(way(), first(), "{name}");
    bencher.bench_local(way);
}

#[divan::bench(args = ["header_set", "with_prefix", "trie_hard", "foldhash", "len_foldhash", "prefix_foldhash"], sample_size = 1024)]
fn header_names(bencher: Bencher<'_, '_>, way: &str) {
    run(bencher, &w13(&headers(20, Misses::Real)), way);
}

#[divan::bench(args = ["celero", "memmem", "sliceslice"], consts = [16, 48, 101, 200], sample_size = 1024)]
fn miss<const LENGTH: usize>(bencher: Bencher<'_, '_>, way: &str) {
    let text = haystack("Googlebot", LENGTH, Hit::Miss).expect("a text");
    run(bencher, &search("Googlebot", &text), way);
}

#[divan::bench(args = ["celero", "memmem", "sliceslice"], consts = [16, 48, 101, 200], sample_size = 1024)]
fn hit_at_the_end<const LENGTH: usize>(bencher: Bencher<'_, '_>, way: &str) {
    let text = haystack("Googlebot", LENGTH, Hit::End).expect("a text");
    run(bencher, &search("Googlebot", &text), way);
}
