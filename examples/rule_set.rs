//! Ten thousand rules on one request: `cargo run -p celero-examples --bin rule_set`.

use celero::http::RequestContext;
use celero::{Engine, Env, ErrorPolicy, Rule, Scratch};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let env = Env::<RequestContext>::new();
    let tenants = (0..10_000).map(|i| {
        let source = format!(r#"request.host == "tenant-{i}.example" && request.path.startsWith("/v{}/")"#, i % 7);
        Rule::new(&format!("tenant {i}"), &source, 200)
    });
    let start = Instant::now();
    let rules = Engine::new()
        .rules(&env)
        .with_rules(tenants)
        .with_rule(Rule::new("admin", r#"request.path.startsWith("/admin")"#, 403).priority(1)) // before all others
        .on_error(ErrorPolicy::Match)
        .build()?;
    println!(
        "{} rules, {} found by the index, compiled in {:.0?}",
        rules.len(),
        rules.indexed_rules(),
        start.elapsed()
    );
    assert!(rules.indexed_rules() >= 10_000);

    let mut scratch = Scratch::new(); // one per thread
    for (target, expected) in [
        ("http://tenant-1234.example/v2/users", Some("tenant 1234")),
        ("http://tenant-1234.example/admin", Some("admin")),
        ("http://other.example/", None),
    ] {
        let request = http::Request::get(target).body(())?;
        let context = RequestContext::new(&request);
        let found = rules.first(&context, &mut scratch)?.map(|rule| rule.name);
        println!("{target}: {found:?}, {} of the rules match", rules.count(&context, &mut scratch)?);
        assert_eq!(found, expected);
    }
    Ok(())
}
