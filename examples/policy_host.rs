//! A policy in a host of your own, without a network: `cargo run -p celero-examples --bin policy_host`.
//!
//! The host runs the phases in their order and applies the edits. The documentation of
//! `celero_policy` says what else a proxy does.

use celero_policy::{Exchange, Outcome, Policy};
use std::error::Error;
use std::path::Path;

const POLICY: &str = r#"
request:
  - removePrefixes: [x-internal-]
  - name: admin
    when: request.path.startsWith("/admin") && !cidr("10.0.0.0/8").containsIP(source.address)
    deny: {status: 403, body: "not for ${source.address}\n"}
  - setHeaders: {x-internal-client: "${source.address}"}
"#;

fn main() -> Result<(), Box<dyn Error>> {
    // The whole file is compiled, or refused with every mistake at its place.
    let policy = Policy::parse("policy.yaml", POLICY, Path::new("."))?;
    print!("{}", policy.render_warnings(false));

    let mut exchange = Exchange::new(None, None); // one per connection, say
    for (target, client, expected) in [
        ("/", "192.0.2.7:4711", None),
        ("/x/..//%61dmin/users", "192.0.2.7:4711", Some(403)), // another spelling of /admin/users
        ("/admin/users", "10.1.2.3:4711", None),
    ] {
        let request = http::Request::get(target).header("host", "shop.example").header("x-internal-client", "forged");
        let (mut head, ()) = request.body(())?.into_parts();
        exchange.reset(Some(client.parse()?), None);
        // This policy delays nothing; a host waits for the `delay` of the decision.
        let answer = match policy.request(&mut head, &mut exchange).outcome {
            Outcome::Continue => {
                exchange.edits().apply_to_request(&mut head);
                println!("{target} from {client}: forwarded as {}, {:?}", head.uri, head.headers);
                assert_eq!(head.headers["x-internal-client"], client.split(':').next().unwrap_or_default());
                None
            }
            Outcome::Respond(answer) => {
                println!("{target} from {client}: {} {:?}", answer.status, answer.body);
                Some(answer.status.as_u16())
            }
        };
        assert_eq!(answer, expected, "{target} from {client}");
    }
    for rule in policy.rules() {
        println!("rule {rule:?}");
    }
    Ok(())
}
