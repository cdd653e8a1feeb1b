//! What asking a set costs where no rule matches: sets of 1,000 rules that one lookup finds, on a
//! value that is in none of them.

use crate::interleaved;
use celero::http::RequestContext;
use celero::{Context, Engine, Env, RuleSet, Scratch};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::net::{IpAddr, Ipv4Addr};

/// Number of rules in a set.
const RULES: usize = 1_000;

/// The data of rules.
#[derive(Context)]
struct Data<'a> {
    text: &'a str,
    peer: IpAddr,
    port: u16,
}

/// Asks a set once, and returns the number of rules that match.
type Ask = Box<dyn Fn(&()) -> u64>;

/// Measures each set. Returns a row for each, in nanoseconds.
///
/// # Errors
/// A rule does not compile or is not indexed, or a rule matches.
pub fn compare_asking(rounds: usize, print: &mut dyn FnMut(String)) -> Result<Vec<Value>, String> {
    let env = Env::<Data<'_>>::new();
    let data = Data { text: "", peer: Ipv4Addr::new(192, 0, 2, 1).into(), port: 443 };
    let request = || http::Request::builder().uri("http://shop.example.com/a").header("user-agent", "").body(());
    let request: &'static http::Request<()> = Box::leak(Box::new(request().map_err(|error| error.to_string())?));
    let (data, of_http): (&'static Data<'static>, _) = (Box::leak(Box::new(data)), Env::<RequestContext<'_>>::new());
    let of_data = |rule: fn(usize) -> String| ask(&env, rule, move |run| run(data));
    let of_request = |rule: fn(usize) -> String| ask(&of_http, rule, move |run| run(&RequestContext::new(request)));
    let (names, asks): (Vec<&str>, Vec<Result<Ask, String>>) = [
        ("text ==", of_data(|n| format!("text == '{}'", word(n)))),
        ("text.startsWith", of_data(|n| format!("text.startsWith('{}')", word(n)))),
        ("text.contains", of_data(|n| format!("text.contains('{}')", word(n)))),
        ("number ==", of_data(|n| format!("port == {}u", n.wrapping_mul(3)))),
        ("address in network", of_data(|n| format!("cidr('10.{}.{}.0/24').containsIP(peer)", n / 256, n % 256))),
        ("host ==", of_request(|n| format!("request.host == '{}.example.com'", word(n)))),
        ("header ==", of_request(|n| format!("request.headers['user-agent'] == '{}'", word(n)))),
        ("header.contains", of_request(|n| format!("request.headers['user-agent'].contains('{}')", word(n)))),
    ]
    .into_iter()
    .unzip();
    let mut asks: Vec<Ask> = asks.into_iter().collect::<Result<_, _>>()?;
    if let Some((name, _)) = names.iter().zip(&asks).find(|(_, ask)| ask(&()) != 0) {
        return Err(format!("{name}: a rule matches"));
    }
    let rows = names.iter().zip(interleaved(&mut asks, &(), rounds)).map(|(name, time)| {
        print(format!("{name:20}{:8.1} ns", time.ns));
        json!({ "name": name, "ns": (time.ns * 100.0).round() / 100.0 })
    });
    Ok(rows.collect())
}

/// Prepares a set. `with` calls its argument with the context.
fn ask<C: Context<Static = C> + 'static>(
    env: &Env<C>,
    rule: fn(usize) -> String,
    with: impl Fn(&mut dyn FnMut(&C) -> u64) -> u64 + 'static,
) -> Result<Ask, String> {
    let builder = (0..RULES).fold(Engine::new().rules(env), |builder, n| builder.rule("", &rule(n), ()));
    let set: RuleSet<C, ()> = builder.build().map_err(|error| error.to_string())?;
    if set.indexed_rules() != RULES {
        return Err(format!("{}: {} of {RULES} rules are indexed", rule(0), set.indexed_rules()));
    }
    let scratch = RefCell::new(Scratch::new());
    Ok(Box::new(move |()| with(&mut |context| set.count(context, &mut scratch.borrow_mut()).unwrap_or(0) as u64)))
}

/// A word that no text here has.
fn word(n: usize) -> String {
    format!("{:x}w{n}", n.wrapping_mul(2_654_435_761) % 1_000_003)
}
