//! Paths and heads that are canonical already, and some that are not. `cargo bench -p celero-canonical`.
#![expect(clippy::unwrap_used, reason = "benchmarks")]

use celero_canonical::{GuardedNames, Options, canonical_changes, canonical_path};
use divan::{Bencher, black_box};
use http::request::Parts;

fn main() {
    divan::main();
}

const BROWSER: [(&str, &str); 10] = [
    ("user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"),
    ("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
    ("accept-language", "en-US,en;q=0.5"),
    ("accept-encoding", "gzip, deflate, br, zstd"),
    ("referer", "https://www.example.com/"),
    ("cookie", "session=0123456789abcdef; theme=dark"),
    ("sec-fetch-dest", "document"),
    ("sec-fetch-mode", "navigate"),
    ("sec-fetch-site", "same-origin"),
    ("x-request-id", "0123456789abcdef"),
];

fn head(target: &str, fields: &[(&str, &str)]) -> Parts {
    let builder = http::Request::get(target).header("host", "www.example.com");
    let builder = fields.iter().fold(builder, |builder, (name, value)| builder.header(*name, *value));
    builder.body(()).unwrap().into_parts().0
}

fn measure(bencher: Bencher<'_, '_>, head: &Parts, is_clean: bool) {
    let mut guarded = GuardedNames::default();
    guarded.add("x-user");
    let changes = canonical_changes(head, None, &Options::default(), &guarded).unwrap();
    assert_eq!(changes.is_empty(), is_clean, "{}", head.uri);
    bencher.bench_local(|| canonical_changes(black_box(head), None, &Options::default(), &guarded).unwrap().is_empty());
}

/// Targets that are canonical already.
const CLEAN: [&str; 4] = [
    "/",
    "/api/v1/users/4711",
    "/static/js/vendors~main.0123456789abcdef.chunk.js",
    "/search?q=canonical+request&lang=en&page=2",
];

/// The path alone.
#[divan::bench(args = &CLEAN[..3])]
fn clean_path(bencher: Bencher<'_, '_>, path: &str) {
    let options = Options::default();
    assert_eq!(canonical_path(path.as_bytes(), &options).as_deref(), Ok(path.as_bytes()));
    bencher.bench_local(|| canonical_path(black_box(path.as_bytes()), &options).is_ok());
}

#[divan::bench(args = CLEAN)]
fn clean_target(bencher: Bencher<'_, '_>, target: &str) {
    measure(bencher, &head(target, &[]), CLEAN.contains(&target));
}

#[divan::bench]
fn clean_head_of_a_browser(bencher: Bencher<'_, '_>) {
    measure(bencher, &head("/api/v1/users/4711", &BROWSER), true);
}

#[divan::bench(args = ["//api/v1/users/4711", "/api/%61/../v1/users/4711"])]
fn other_spelling(bencher: Bencher<'_, '_>, target: &str) {
    measure(bencher, &head(target, &[]), CLEAN.contains(&target));
}
