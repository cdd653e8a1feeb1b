//! One request, however it came: each attribute that rules read has the same value over HTTP/1.1 in
//! origin-form and in absolute-form, over HTTP/2, with TLS and without, through the proxy and
//! through the tower layer, and it is what the server got.
//!
//! The attributes are those of the tables: all variables of the phases, and all fields of the
//! filter language. What differs by nature is in `nature.rs`, with the value that is right. The
//! seed is fixed. `CELERO_PROTOCOLS` sets the number of requests (300 otherwise), each of which is
//! sent in eight ways.

mod nature;
mod probes;
mod random_request;
mod served;
mod ways;

use crate::recorder::Recorder;
use crate::running::say;
use crate::spellings::Random;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nature::{Nature, is_framing_of_http1, nature};
pub(crate) use probes::OF_PROXY;
use probes::Probes;
use random_request::RandomRequest;
use serde_json::{Map, Value as Json};
use served::Served;
use std::collections::{BTreeMap, BTreeSet};
use ways::{Way, Ways};

/// Requests that are sent before their log entries are read.
const ROUND: usize = 100;

/// What a way made of a request: what rules have read, by attribute, and what the server got.
#[derive(Debug)]
struct Seen {
    fields: Map<String, Json>,
    served: Served,
}

/// A kind of difference, which is shown once, and an example of it.
type Difference = (String, String);

/// Returns what is wrong with what a way made of a request, if the first way is right.
fn differences(request: &RandomRequest, way: Way, first: &Seen, other: &Seen, ports: [u16; 2]) -> Vec<Difference> {
    let names: BTreeSet<&String> = first.fields.keys().chain(other.fields.keys()).collect();
    let mut wrong = Vec::new();
    for name in names {
        let is = other.fields.get(name);
        let expected = match nature(name, request, way, &other.fields, ports) {
            Nature::Same => first.fields.get(name).cloned(),
            Nature::Is(expected) => expected,
            Nature::Any => continue,
        };
        if comparable(name, is) != comparable(name, expected.as_ref()) {
            wrong.push((name.clone(), format!("{is:?} and not {expected:?}")));
        }
    }
    if let Some(difference) = other.served.difference(&first.served) {
        wrong.push(("the server got".to_owned(), difference));
    }
    wrong.extend(other.served.unlike_rules(&other.fields));
    wrong
}

/// Returns a value without the fields that the proxy adds, and without framing; the body of the
/// response as what it describes.
fn comparable(name: &str, value: Option<&Json>) -> Option<Json> {
    let mut value = value?.clone();
    if name.ends_with("response.body") {
        let body = STANDARD.decode(value.as_str().unwrap()).unwrap();
        return Some(format!("{:?}", Served::of(&body)).into());
    }
    if name.contains("|cel|request.headers")
        && let Json::Object(fields) = &mut value
    {
        fields.retain(|name, _| !is_framing_of_http1(name) && !probes::OF_PROXY.contains(&name.as_str()));
    }
    Some(value)
}

#[test]
fn every_attribute_is_the_same_however_the_request_came() {
    let count = std::env::var("CELERO_PROTOCOLS").map_or(300, |count| count.parse().expect("a number of requests"));
    let probes = Probes::new();
    let server = Recorder::keeping();
    let mut ways = Ways::new(&probes, &server.config());
    let (mut random, mut read) = (Random(1), BTreeSet::new());
    let mut wrong = BTreeMap::<_, (usize, String)>::new();
    for start in (0..count).step_by(ROUND) {
        let requests: Vec<_> =
            (start..count.min(start + ROUND)).map(|number| RandomRequest::new(number, &mut random)).collect();
        let seen = ways.send(&requests);
        for (at, request) in requests.iter().enumerate() {
            let first = &seen[0].1[at];
            for (way, seen) in &seen {
                let found = differences(request, *way, first, &seen[at], ways.ports);
                for (kind, text) in found {
                    let example = || (0, format!("{text}\n  {request:?}"));
                    wrong.entry(format!("{way:?}: {kind}")).or_insert_with(example).0 += 1;
                }
                read.extend(seen[at].fields.keys().cloned());
            }
        }
    }
    let shown: String =
        wrong.iter().map(|(kind, (count, example))| format!("{kind} ({count} times): {example}\n")).collect();
    assert!(wrong.is_empty(), "{} kinds of differences:\n{shown}", wrong.len());
    let never = probes.never_read(&read);
    assert!(never.is_empty(), "attributes that no request had, so that nothing was compared: {never:?}");
    say(&format!("protocols: {count} requests in {} ways, {} attributes compared", Way::ALL.len(), read.len()));
    assert!(server.seen().faults.is_empty());
}
