//! Lists of texts and of hosts, against a hash set and a finite state transducer.

use super::{Contender, Data, Options, Values, list_of, rule, time};
use crate::rulesets::rng::Rng;
use celero::lists::{Entries, Kind};
use fst::raw::Fst;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr};

/// How many entries a list has.
const ENTRIES: usize = 100_000;
/// How many texts are asked in turn.
const TEXTS: usize = 65_536;

type Set = HashSet<Box<str>, foldhash::fast::RandomState>;

pub(super) fn measure(options: &Options, say: &mut dyn FnMut(&str)) -> Result<Vec<Value>, String> {
    let mut rows = texts(options, say)?;
    rows.extend(hosts(options, say)?);
    Ok(rows)
}

fn texts(options: &Options, say: &mut dyn FnMut(&str)) -> Result<Vec<Value>, String> {
    let mut rng = Rng::new(29);
    let known = different(|rng| format!("/{}/{}/{}", word(rng), word(rng), word(rng)), &mut rng);
    let others = (0..TEXTS).map(|_| format!("/{}/{}/{}", word(&mut rng), word(&mut rng), word(&mut rng))).collect();
    let mut contenders = own(Kind::Texts, &known)?;
    contenders.push(Contender::new("hash_set", || set(&known), |set: &Set, text: &String| set.contains(text.as_str())));
    contenders.push(Contender::new("fst", || fst(known.iter().cloned()), |fst, text: &String| fst.contains_key(text)));
    let present = (0..TEXTS).map(|_| rng.pick(&known).clone()).collect();
    let groups = [
        Values { name: "random", values: others, in_turn: false },
        Values { name: "present", values: present, in_turn: false },
    ];
    time(&format!("{ENTRIES} texts"), ENTRIES, &contenders, &groups, options.rounds, say)
}

fn hosts(options: &Options, say: &mut dyn FnMut(&str)) -> Result<Vec<Value>, String> {
    let mut rng = Rng::new(31);
    let domains =
        different(|rng| format!("{}-{}.{}", word(rng), word(rng), rng.pick(&["example", "test", "co.uk"])), &mut rng);
    let known: Vec<String> = domains.iter().map(|domain| format!("*.{domain}")).collect();
    let mut contenders = own(Kind::Hosts, &known)?;
    contenders.push(Contender::new(
        "hash_set",
        || set(&domains),
        |set: &Set, host: &String| {
            // Each name above the host.
            host.match_indices('.')
                .any(|(dot, _)| host.get(dot.saturating_add(1)..).is_some_and(|above| set.contains(above)))
        },
    ));
    let backwards = domains.iter().map(|domain| domain.chars().rev().chain(['.']).collect());
    contenders.push(Contender::new("fst", || fst(backwards), |fst, host: &String| has_prefix(fst, host.bytes().rev())));
    let below = |domain: &str, rng: &mut Rng| format!("{}.{domain}", word(rng));
    let present = (0..TEXTS)
        .map(|_| {
            let domain = rng.pick(&domains).clone();
            below(&domain, &mut rng)
        })
        .collect();
    let others = (0..TEXTS)
        .map(|_| {
            let domain = format!("{}-{}.test", word(&mut rng), word(&mut rng));
            below(&domain, &mut rng)
        })
        .collect();
    let groups = [
        Values { name: "random", values: others, in_turn: false },
        Values { name: "present", values: present, in_turn: false },
    ];
    time(&format!("{ENTRIES} names of hosts"), ENTRIES, &contenders, &groups, options.rounds, say)
}

/// The list, asked by native code and through the crate.
fn own(kind: Kind, known: &[String]) -> Result<Vec<Contender<String>>, String> {
    let entries = Entries::from_texts(kind, known).map_err(|error| error.to_string())?;
    let lists = RefCell::new(None);
    let own = Contender::new(
        "crate",
        || {
            // A copy: what it frees was counted.
            let (made, id) = list_of(kind, entries.clone());
            *lists.borrow_mut() = Some(made.clone());
            (made, id)
        },
        |(lists, id), text: &String| lists.with_view(|view| view.contains_text(*id, text.as_bytes())),
    );
    let program = rule(&lists.into_inner().ok_or("no lists")?, "text in lists.list");
    let peer = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let native =
        Contender::again("native", &own, move |text: &String| program.test(&Data { peer, text }).expect("an answer"));
    Ok(vec![native, own])
}

fn set(texts: &[String]) -> Set {
    texts.iter().map(|text| text.as_str().into()).collect()
}

fn fst(texts: impl Iterator<Item = String>) -> Fst<Vec<u8>> {
    let mut sorted: Vec<String> = texts.collect();
    sorted.sort_unstable();
    Fst::from_iter_set(sorted).expect("sorted keys")
}

/// Whether a key begins the bytes.
fn has_prefix(fst: &Fst<Vec<u8>>, bytes: impl Iterator<Item = u8>) -> bool {
    let mut node = fst.root();
    for byte in bytes {
        let Some(found) = node.find_input(byte) else { return false };
        node = fst.node(node.transition(found).addr);
        if node.is_final() {
            return true;
        }
    }
    false
}

/// Different texts.
fn different(make: impl Fn(&mut Rng) -> String, rng: &mut Rng) -> Vec<String> {
    let (mut seen, mut texts) = (HashSet::new(), Vec::with_capacity(ENTRIES));
    while texts.len() < ENTRIES {
        let text = make(rng);
        if seen.insert(text.clone()) {
            texts.push(text);
        }
    }
    texts
}

fn word(rng: &mut Rng) -> String {
    let length = rng.below(6).saturating_add(3);
    (0..length).map(|_| char::from(*rng.pick(b"abcdefghijklmnopqrstuvwxyz"))).collect()
}
