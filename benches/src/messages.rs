//! Rules on a message of protocol buffers, from its wire bytes: against decoding it with prost, or a
//! view of buffa on its bytes, and testing it in Rust.

use crate::{allocations, interleaved};
use buffa::MessageView as _;
use celero::messages::{Descriptors, Message};
use celero::sets::Indexing;
use celero::values::Arena;
use celero::{Bindings, Engine, Env, Scratch, Tier, Type, Value};
use prost::Message as _;
use serde_json::{Value as Json, json};
use std::cell::RefCell;

/// The types that buffa generates for `proto/record.proto`.
#[expect(
    unreachable_pub,
    elided_lifetimes_in_paths,
    clippy::allow_attributes,
    clippy::arithmetic_side_effects,
    reason = "generated"
)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/record_types.rs"));
}

use generated::record::{RecordView, UserView};

/// The type of the message.
const RECORD: &str = "record.Record";

/// The descriptors of the same file.
const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/record.binpb"));

#[derive(Clone, PartialEq, prost::Message)]
struct Record {
    #[prost(fixed64, tag = "1")]
    time: u64,
    #[prost(int32, tag = "2")]
    status: i32,
    #[prost(string, tag = "3")]
    service: String,
    #[prost(string, tag = "4")]
    body: String,
    #[prost(message, repeated, tag = "5")]
    attributes: Vec<Attribute>,
    #[prost(bytes = "vec", tag = "6")]
    trace: Vec<u8>,
    #[prost(message, optional, tag = "7")]
    user: Option<User>,
    #[prost(string, tag = "8")]
    path: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Attribute {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct User {
    #[prost(string, tag = "1")]
    id: String,
    #[prost(string, tag = "2")]
    plan: String,
    #[prost(string, repeated, tag = "3")]
    groups: Vec<String>,
}

fn record() -> Record {
    let attribute = |n: usize| Attribute { key: format!("attribute.{n}"), value: format!("the value of number {n}") };
    Record {
        time: 1_700_000_000_000_000_000,
        status: 503,
        service: "checkout".to_owned(),
        body: "upstream connect error or disconnect before headers ".repeat(8),
        attributes: (0..12).map(attribute).collect(),
        trace: vec![7; 16],
        user: Some(User {
            id: "u-4711".to_owned(),
            plan: "pro".to_owned(),
            groups: vec!["ops".to_owned(), "billing".to_owned()],
        }),
        path: "/api/orders/42".to_owned(),
    }
}

/// Asks an engine once.
type Ask = Box<dyn Fn(&()) -> u64>;

impl Record {
    fn user(&self) -> Option<&User> {
        self.user.as_ref()
    }
}

impl<'a> RecordView<'a> {
    fn user(&self) -> Option<&UserView<'a>> {
        self.user.as_option()
    }
}

/// Rules, and the same test of the decoded message. What is measured is all of them.
struct Case {
    name: &'static str,
    rules: &'static [&'static str],
    by_hand: fn(&Record) -> bool,
    by_view: for<'v> fn(&RecordView<'v>) -> bool,
}

/// One test in Rust, of both forms of the message.
macro_rules! case {
    ($name:literal, $rules:expr, |$m:ident| $test:expr) => {
        Case { name: $name, rules: $rules, by_hand: |$m| $test, by_view: |$m| $test }
    };
}

const CASES: [Case; 4] = [
    case!("one field", &["m.status >= 500"], |m| m.status >= 500),
    case!("three fields", &["m.status >= 500 && m.user.plan == 'pro' && m.path.startsWith('/api/')"], |m| {
        m.status >= 500 && m.user().is_some_and(|user| user.plan == "pro") && m.path.starts_with("/api/")
    }),
    case!("elements", &["m.attributes.exists(a, a.key == 'attribute.11') && 'ops' in m.user.groups"], |m| {
        m.attributes.iter().any(|attribute| attribute.key == "attribute.11")
            && m.user().is_some_and(|user| user.groups.iter().any(|group| **group == *"ops"))
    }),
    case!(
        "twenty rules",
        &[
            "m.time > 0u",
            "m.time < 4102444800000000000u",
            "m.status >= 100 && m.status < 600",
            "m.service != ''",
            "size(m.service) <= 64",
            "m.service in ['checkout', 'search', 'users']",
            "size(m.body) <= 65536",
            "!m.body.contains('password=')",
            "size(m.trace) == 16",
            "m.path.startsWith('/')",
            "size(m.path) <= 2048",
            "!m.path.contains('..')",
            "m.path.endsWith('42')",
            "size(m.attributes) <= 64",
            "m.attributes.all(a, a.key != '')",
            "has(m.user)",
            "m.user.id.startsWith('u-')",
            "size(m.user.id) <= 36",
            "m.user.plan in ['free', 'pro']",
            "size(m.user.groups) <= 16 && m.user.groups.all(group, group != '')",
        ],
        |m| {
            let Some(user) = m.user() else { return false };
            let checks = [
                m.time > 0,
                m.time < 4_102_444_800_000_000_000,
                m.status >= 100 && m.status < 600,
                !m.service.is_empty(),
                m.service.chars().count() <= 64,
                matches!(AsRef::<str>::as_ref(&m.service), "checkout" | "search" | "users"),
                m.body.chars().count() <= 65_536,
                !m.body.contains("password="),
                m.trace.len() == 16,
                m.path.starts_with('/'),
                m.path.chars().count() <= 2048,
                !m.path.contains(".."),
                m.path.ends_with("42"),
                m.attributes.len() <= 64,
                m.attributes.iter().all(|attribute| !attribute.key.is_empty()),
                user.id.starts_with("u-"),
                user.id.chars().count() <= 36,
                matches!(AsRef::<str>::as_ref(&user.plan), "free" | "pro"),
                user.groups.len() <= 16 && user.groups.iter().all(|group| !group.is_empty()),
            ];
            checks.into_iter().all(std::convert::identity)
        }
    ),
];

/// Measures each case in both tiers, against prost and against buffa. Returns a row for each, in nanoseconds.
///
/// # Errors
/// A rule does not compile, or answers differ.
pub fn compare_messages(rounds: usize, print: &mut dyn FnMut(String)) -> Result<Vec<Json>, String> {
    let types = Descriptors::from_bytes(DESCRIPTORS).map_err(|error| error.to_string())?;
    let types: &'static Descriptors = Box::leak(Box::new(types));
    let bytes: &'static [u8] = Box::leak(record().encode_to_vec().into_boxed_slice());
    let env = Env::dynamic().messages(types).variable("m", Type::message(RECORD));
    print(format!("a message of {} bytes; ns for an evaluation (median)", bytes.len()));
    let mut rows = Vec::new();
    let message = Message::new(types, RECORD, bytes).ok_or("no such message")?;
    let arena: &'static Arena = Box::leak(Box::new(Arena::new(1 << 16)));
    let indexed = message.indexed(arena).map_err(|kind| kind.to_string())?;
    let [message, indexed] = [message, indexed].map(|message| &*Box::leak(Box::new(message)));
    for Case { name, rules, by_hand, by_view } in CASES {
        let is_indexed = rules.len() > 1;
        let message = if is_indexed { indexed } else { message };
        let mut engines: Vec<Ask> = vec![
            Box::new(move |()| Record::decode(std::hint::black_box(bytes)).is_ok_and(|m| by_hand(&m)).into()),
            Box::new(move |()| RecordView::decode_view(std::hint::black_box(bytes)).is_ok_and(|m| by_view(&m)).into()),
        ];
        for tier in [Tier::Native, Tier::Interpret] {
            let engine = Engine::builder().tier(tier).build();
            let mut set = engine.rules(&env).index(Indexing::Off);
            for rule in rules {
                set = set.rule(rule, rule, ());
            }
            let set = set.build().map_err(|error| error.to_string())?;
            let mut bindings = Bindings::new(&env);
            bindings.set("m", Value::Message(message)).map_err(|error| error.to_string())?;
            let arena = RefCell::new(Arena::new(1 << 16));
            let scratch = RefCell::new(Scratch::new());
            engines.push(Box::new(move |()| {
                if is_indexed {
                    // What binding such a message costs; rules read one that is equal.
                    let mut arena = arena.borrow_mut();
                    arena.reset();
                    let message = Message::new(types, RECORD, std::hint::black_box(bytes));
                    std::hint::black_box(&message.map(|message| message.indexed(&arena)));
                }
                (set.count(&bindings, &mut scratch.borrow_mut()) == Ok(rules.len())).into()
            }));
        }
        if let Some(at) = engines.iter().position(|engine| engine(&()) != 1) {
            return Err(format!("{name}: engine {at} has another answer"));
        }
        let allocated: Vec<f64> = engines.iter().map(|engine| allocations(&|(): &()| engine(&()), &())).collect();
        let times: Vec<f64> = interleaved(&mut engines, &(), rounds).iter().map(|time| time.ns).collect();
        let (&[prost, view, native, interpreted], &[_, _, allocations, _]) = (times.as_slice(), allocated.as_slice())
        else {
            return Err("four engines were measured".to_owned());
        };
        print(format!(
            "{name}: {}\n    prost and Rust {prost:.0}, a view of buffa and Rust {view:.0}, native {native:.0} ({:.2} and {:.2}), interpreted {interpreted:.0}; {allocations} allocations",
            rules.join("; "),
            native / prost,
            native / view
        ));
        rows.push(
            json!({ "case": name, "rules": rules, "prost_ns": prost, "view_ns": view, "native_ns": native, "interpreter_ns": interpreted,
            "allocations": allocations }),
        );
    }
    Ok(rows)
}
