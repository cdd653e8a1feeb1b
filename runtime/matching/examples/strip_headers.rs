//! Removes internal headers from a request before it is forwarded.
//!
//! Run it with `cargo run -p celero-matching --features http --example strip_headers`.

#![expect(clippy::print_stdout, reason = "the output of a command")]

use celero_matching::HeaderSet;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let internal = HeaderSet::new(["x-real-ip", "x-request-start"], ["x-internal-", "x-envoy-"])?;
    let mut request = http::Request::get("/")
        .header("Host", "example.com")
        .header("X-Internal-Route", "blue")
        .header("X-Real-IP", "192.0.2.17")
        .body(())?;

    let removed = internal.remove(request.headers_mut());
    println!("{removed} headers removed, left: {:?}", request.headers().keys().collect::<Vec<_>>());
    Ok(())
}
