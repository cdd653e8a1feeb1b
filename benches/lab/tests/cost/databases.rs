//! Databases in the MaxMind DB format: many networks, many records, large records, and records that
//! share one ([format](https://maxmind.github.io/MaxMind-DB/)).

use crate::measure::growth;
use crate::{exclusive, report};
use celero_lists::{Entries, ListType, RecordPaths};
use celero_tests::heap;
use std::hint::black_box;

const TEXT: u8 = 2;
const MAP: u8 = 7;
const U16: u8 = 5;
const U32: u8 = 6;
const U64: u8 = 9;
const ARRAY: u8 = 11;

/// Writes the first bytes of a value: its type, and its length or the number of its members.
fn head(kind: u8, size: usize, out: &mut Vec<u8>) {
    let (short, more) = match size {
        0..29 => (size, vec![]),
        29..285 => (29, (size - 29).to_be_bytes()[7..].to_vec()),
        285..65_821 => (30, (size - 285).to_be_bytes()[6..].to_vec()),
        _ => (31, (size - 65_821).to_be_bytes()[5..].to_vec()),
    };
    // Types from 8 on are in a byte of their own.
    if kind < 8 {
        out.push(kind << 5 | short as u8);
    } else {
        out.extend([short as u8, kind - 7]);
    }
    out.extend(more);
}

fn text(text: &str, out: &mut Vec<u8>) {
    head(TEXT, text.len(), out);
    out.extend(text.as_bytes());
}

/// A map of one member.
fn record(name: &str, value: &str, out: &mut Vec<u8>) {
    head(MAP, 1, out);
    text(name, out);
    text(value, out);
}

/// A database in which networks of one length lead to the records at these offsets of `data`.
fn database(records: &[usize], data: &[u8]) -> Vec<u8> {
    database_of_nodes(records, data, None)
}

/// A database that says that it has so many nodes.
fn database_of_nodes(records: &[usize], data: &[u8], said: Option<u32>) -> Vec<u8> {
    let leaves = records.len().next_power_of_two().max(2);
    let nodes = leaves - 1;
    let mut out = Vec::new();
    // A complete tree: the children of node `k` are `2k + 1` and `2k + 2`.
    for child in 1..=2 * nodes {
        let leaf = child.checked_sub(nodes).map(|leaf| records.get(leaf).map_or(nodes, |at| nodes + 16 + at));
        out.extend((leaf.unwrap_or(child) as u32).to_be_bytes());
    }
    out.extend([0; 16]);
    out.extend(data);
    out.extend(b"\xab\xcd\xefMaxMind.com");
    let numbers = [
        ("binary_format_major_version", U16, &[2][..]),
        ("binary_format_minor_version", U16, &[]),
        ("build_epoch", U64, &[1]),
        ("ip_version", U16, &[4]),
        ("node_count", U32, &said.unwrap_or(nodes as u32).to_be_bytes()),
        ("record_size", U16, &[32]),
    ];
    head(MAP, numbers.len() + 3, &mut out);
    for (name, kind, bytes) in numbers {
        text(name, &mut out);
        head(kind, bytes.len(), &mut out);
        out.extend(bytes);
    }
    text("database_type", &mut out);
    text("Test", &mut out);
    for (name, kind) in [("description", MAP), ("languages", ARRAY)] {
        text(name, &mut out);
        head(kind, 0, &mut out);
    }
    out
}

/// A name, and a database of so many networks, records or members.
type SizedDatabase = (&'static str, fn(usize) -> Vec<u8>);

fn records(n: usize, write: impl Fn(usize, &mut Vec<u8>)) -> Vec<u8> {
    let mut data = Vec::new();
    let place = |k| {
        let at = data.len();
        write(k, &mut data);
        at
    };
    let places: Vec<usize> = (0..n).map(place).collect();
    database(&places, &data)
}

/// A record whose field is behind so many members.
fn large_map(n: usize) -> Vec<u8> {
    let mut data = Vec::new();
    head(MAP, n + 1, &mut data);
    for name in (0..n).map(|k| format!("k{k}")).chain(["a".to_owned()]) {
        text(&name, &mut data);
        text("v", &mut data);
    }
    data
}

const DATABASES: &[SizedDatabase] = &[
    ("records", |n| records(n, |k, out| record("a", &format!("v{k}"), out))),
    ("equal records", |n| records(n, |_, out| record("a", "v", out))),
    ("records without the field", |n| records(n, |_, out| record("b", "v", out))),
    ("networks of one record", |n| {
        let mut data = Vec::new();
        record("a", "v", &mut data);
        database(&vec![0; n], &data)
    }),
    ("a record of many members", |n| database(&[0, 0], &large_map(n))),
    ("records that share a large map", |n| database(&vec![0; n], &large_map(n))),
    ("a long text", |n| records(2, |_, out| record("a", &"v".repeat(n), out))),
];

/// The list that is filled, and where its field is found.
fn target() -> (ListType, RecordPaths) {
    let ty: ListType = "addresses:{a: string}".parse().unwrap();
    let paths = RecordPaths::new(&ty, []).unwrap();
    (ty, paths)
}

#[test]
fn nodes_that_a_database_does_not_have_take_no_memory() {
    let _guard = exclusive();
    let (ty, paths) = target();
    for nodes in [4, 1 << 28, u32::MAX] {
        let bytes = database_of_nodes(&[0], &[], Some(nodes));
        let (read, peak) =
            heap::peak(|| Entries::parse_mmdb(&ty, &paths, &bytes, 1 << 20).map(|entries| entries.len()));
        assert!(read.is_err() && peak < 1 << 16, "{nodes} nodes: {peak} bytes, {read:?}");
    }
}

#[test]
fn databases_cost_what_their_size_says() {
    let _guard = exclusive();
    let (ty, paths) = target();
    let mut problems = Vec::new();
    for (name, make) in DATABASES {
        let read = |bytes: &[u8]| Entries::parse_mmdb(&ty, &paths, bytes, 1 << 20);
        let small = read(&make(2)).map(|entries| entries.len());
        assert_eq!(small.is_ok(), *name != "records without the field", "{name}: {small:?}");
        let work = |n: usize| {
            let bytes = make(n);
            move || drop(black_box(read(&bytes).map_err(|error| error.len()).is_ok()))
        };
        problems.extend(growth(&format!("database of {name}"), 1 << 14, work));
    }
    report(&problems);
}
