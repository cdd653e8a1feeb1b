//! A node of the index: lookups of slots, each with what it leads to. Asking gives the cases of all rules that may be true.

use super::keys::Key;
use super::reader::Reader;
use super::slot::{Loaded, SlotId, Slots, Source, Unreadable};
use celero_matching::{
    ExactMap, LiteralMap, MemoryBudget, NetworkMap, PatternMatch, PatternSet, PrefixMap, RangeMap, SuffixMap,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most bytes of the tables of all patterns on one slot.
const MOST_PATTERN_BYTES: usize = 4 << 20;
/// Fewest headers for which all that are sent are gone through: with fewer, asking for each is faster.
pub(super) const TOGETHER: usize = 5;
/// No node.
const NOWHERE: u32 = u32::MAX;

/// What a key leads to: cases, and a node that knows more about further ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    first: u32,
    count: u32,
    node: u32,
}

impl Target {
    const NOTHING: Self = Self { first: 0, count: 0, node: NOWHERE };
}

/// Keys of one kind on one slot, and their targets in the order of the keys' ids.
#[derive(Debug)]
pub(super) struct Lookup {
    slot: SlotId,
    map: Map,
    targets: Box<[Target]>,
}

#[derive(Debug)]
enum Map {
    Is(Box<ExactMap<false>>),
    Prefix(Box<PrefixMap>),
    Suffix(Box<SuffixMap>),
    Contains(Box<LiteralMap<false>>),
    ContainsFolded(Box<LiteralMap<true>>),
    Range(Box<RangeMap<i128>>),
    Network(Box<NetworkMap>),
    Pattern(Box<PatternSet>),
    /// The ids are 0 and 1.
    Truth,
    /// The ids are 0 of absence and 1 of presence.
    Presence,
}

/// The kinds of maps, for what is known of each before there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum MapKind {
    Truth,
    Presence,
    Is,
    Range,
    Network,
    Prefix,
    Suffix,
    Contains,
    ContainsFolded,
    Pattern,
}

impl MapKind {
    /// Whether keys are pieces of text.
    pub(super) const fn is_of_text(self) -> bool {
        matches!(self, Self::Is | Self::Prefix | Self::Suffix | Self::Contains | Self::ContainsFolded)
    }
}

impl Key {
    pub(super) fn map(&self) -> MapKind {
        match self {
            Self::Is(_) => MapKind::Is,
            Self::Prefix(_) => MapKind::Prefix,
            Self::Suffix(_) => MapKind::Suffix,
            Self::Contains(_) => MapKind::Contains,
            Self::ContainsFolded(_) => MapKind::ContainsFolded,
            Self::Range(..) => MapKind::Range,
            Self::Network(..) => MapKind::Network,
            Self::Pattern(_) | Self::Matched(_) => MapKind::Pattern,
            Self::Truth(_) => MapKind::Truth,
            Self::Present | Self::Absent => MapKind::Presence,
        }
    }

    /// The piece of text that it is of, if any.
    pub(super) fn text(&self) -> &[u8] {
        match self {
            Self::Is(text)
            | Self::Prefix(text)
            | Self::Suffix(text)
            | Self::Contains(text)
            | Self::ContainsFolded(text) => text,
            _ => &[],
        }
    }
}

/// What is asked at one place of the tree.
#[derive(Debug)]
struct Node {
    /// Of slots that are read one after the other; those of one slot stand together.
    asked: Box<[Lookup]>,
    /// Of headers that matter only where they are sent: not the names are looked up among the headers, but the headers among
    /// the names.
    sent: Option<Box<Sent>>,
}

impl Node {
    /// How many lookups it has.
    fn len(&self) -> usize {
        self.asked.len().saturating_add(self.sent.as_ref().map_or(0, |sent| sent.lookups.len()))
    }
}

/// Lookups of headers, by name.
#[derive(Debug)]
struct Sent {
    /// The field that is the header map.
    field: u32,
    names: ExactMap<true>,
    /// By name: its lookups.
    spans: Box<[(u32, u32)]>,
    lookups: Box<[Lookup]>,
}

/// The nodes of an index, and the cases that they lead to.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    postings: Vec<u32>,
}

impl Nodes {
    /// A target of these cases.
    pub(super) fn target(&mut self, cases: &[u32], node: Option<u32>) -> Option<Target> {
        let first = u32::try_from(self.postings.len()).ok()?;
        self.postings.extend_from_slice(cases);
        let count = u32::try_from(self.postings.len()).ok()?.checked_sub(first)?;
        Some(Target { first, count, node: node.unwrap_or(NOWHERE) })
    }

    /// Adds a node of these lookups, of which those of one slot stand together; gives its number.
    pub(super) fn add(&mut self, lookups: Vec<Lookup>, slots: &Slots) -> Option<u32> {
        let number = u32::try_from(self.nodes.len()).ok().filter(|number| *number != NOWHERE)?;
        let mut by_name: BTreeMap<(u32, Arc<str>), Vec<Lookup>> = BTreeMap::new();
        let mut asked = Vec::new();
        for lookup in lookups {
            match slots.get(lookup.slot).map(|slot| &slot.source) {
                Some(Source::Header(field, name)) => {
                    by_name.entry((*field, name.clone())).or_default().push(lookup);
                }
                _ => asked.push(lookup),
            }
        }
        let field = by_name.keys().next().map(|(field, _)| *field);
        let (mut names, mut spans, mut sent) = (Vec::new(), Vec::new(), Vec::new());
        let eligible = |key: &(u32, Arc<str>), lookups: &[Lookup]| {
            Some(key.0) == field && !lookups.iter().any(Lookup::asks_for_absence)
        };
        let many = by_name.iter().filter(|(key, lookups)| eligible(key, lookups)).count() >= TOGETHER;
        for (key, lookups) in by_name {
            if many && eligible(&key, &lookups) {
                let first = u32::try_from(sent.len()).ok()?;
                sent.extend(lookups);
                spans.push((first, u32::try_from(sent.len()).ok()?));
                names.push(key.1);
            } else {
                asked.extend(lookups);
            }
        }
        let sent = field.filter(|_| many).map(|field| {
            let names = ExactMap::new(&names.iter().map(|name| name.as_bytes()).collect::<Vec<_>>());
            Box::new(Sent { field, names, spans: spans.into(), lookups: sent.into() })
        });
        self.nodes.push(Node { asked: asked.into(), sent });
        Some(number)
    }

    /// Gives the cases other numbers.
    pub(super) fn renumber(&mut self, numbers: &[u32]) {
        for case in &mut self.postings {
            *case = numbers.get(*case as usize).copied().unwrap_or(*case);
        }
        self.nodes.shrink_to_fit();
        self.postings.shrink_to_fit();
    }

    /// Bytes that it holds.
    pub(super) fn bytes(&self) -> usize {
        let sent = self.nodes.iter().filter_map(|node| node.sent.as_ref());
        let lookups = self.nodes.iter().flat_map(|node| &node.asked).chain(sent.clone().flat_map(|sent| &sent.lookups));
        let of_lookups = lookups.map(|lookup| {
            size_of::<Lookup>().saturating_add(lookup.map.bytes()).saturating_add(size_of_val(&*lookup.targets))
        });
        let of_sent = sent.map(|sent| sent.names.heap_bytes().saturating_add(size_of_val(&*sent.spans)));
        let nodes = self.nodes.capacity().saturating_mul(size_of::<Node>());
        let postings = self.postings.capacity().saturating_mul(size_of::<u32>());
        of_lookups.chain(of_sent).fold(nodes.saturating_add(postings), usize::saturating_add)
    }

    /// How many lookups there are.
    pub(super) fn lookups(&self) -> usize {
        self.nodes.iter().fold(0, |sum: usize, node| sum.saturating_add(node.len()))
    }

    /// How many lookups a node has.
    pub(super) fn lookups_of(&self, node: u32) -> usize {
        self.nodes.get(node as usize).map_or(0, Node::len)
    }

    /// Adds the cases that a node leads to, in no order, some perhaps repeatedly. `pending` is working memory.
    pub(super) fn gather<'a>(
        &self,
        root: u32,
        reader: &mut Reader<'a, '_>,
        found: &mut Vec<u32>,
        pending: &mut Vec<u32>,
    ) -> Result<(), Unreadable> {
        pending.clear();
        pending.push(root);
        while let Some(node) = pending.pop() {
            let Some(node) = self.nodes.get(node as usize) else { continue };
            for lookup in &node.asked {
                let value = reader.read(lookup.slot)?;
                self.ask(lookup, value, found, pending);
            }
            if let Some(sent) = &node.sent {
                reader.headers(sent.field, |reader, name, value| {
                    let span = sent.names.get(name).and_then(|name| sent.spans.get(name as usize));
                    let lookups = span.and_then(|&(first, end)| sent.lookups.get(first as usize..end as usize));
                    for lookup in lookups.unwrap_or_default() {
                        let value = reader.sent(lookup.slot, value)?;
                        self.ask(lookup, value, found, pending);
                    }
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    /// Adds what a lookup leads to.
    #[inline]
    fn ask(&self, lookup: &Lookup, value: Loaded<'_>, found: &mut Vec<u32>, pending: &mut Vec<u32>) {
        lookup.map.each(value, |id| {
            let Some(target) = lookup.targets.get(id as usize) else { return };
            let first = target.first as usize;
            let cases = self.postings.get(first..first.saturating_add(target.count as usize));
            found.extend_from_slice(cases.unwrap_or_default());
            if target.node != NOWHERE {
                pending.push(target.node);
            }
        });
    }
}

impl Lookup {
    /// Whether the absence of a value leads anywhere.
    fn asks_for_absence(&self) -> bool {
        matches!(self.map, Map::Presence)
            && self.targets.first().is_some_and(|absent| absent.count > 0 || absent.node != NOWHERE)
    }

    /// Keys of one kind, which are distinct, and what each leads to; `room` is for patterns that are compiled.
    pub(super) fn new(
        slot: SlotId,
        kind: MapKind,
        keys: &[&Key],
        leads: Vec<Target>,
        room: &MemoryBudget,
    ) -> Option<Self> {
        let texts = || keys.iter().map(|key| key.text()).collect::<Vec<_>>();
        let map = match kind {
            MapKind::Is => Map::Is(Box::new(ExactMap::new(&texts()))),
            MapKind::Prefix => Map::Prefix(Box::new(PrefixMap::new(&texts())?)),
            MapKind::Suffix => Map::Suffix(Box::new(SuffixMap::new(&texts())?)),
            MapKind::Contains => Map::Contains(Box::new(LiteralMap::new(&texts())?)),
            MapKind::ContainsFolded => Map::ContainsFolded(Box::new(LiteralMap::new(&texts())?)),
            MapKind::Range => {
                let range = |key: &Key| if let Key::Range(from, to) = *key { Some((from, to)) } else { None };
                let ranges: Option<Vec<_>> = keys.iter().map(|key| range(key)).collect();
                Map::Range(Box::new(RangeMap::new(&ranges?)))
            }
            MapKind::Network => {
                let network = |key: &Key| if let Key::Network(ip, prefix) = *key { Some((ip, prefix)) } else { None };
                let networks: Option<Vec<_>> = keys.iter().map(|key| network(key)).collect();
                Map::Network(Box::new(NetworkMap::new(&networks?)))
            }
            MapKind::Pattern => {
                let mut by_pattern: BTreeMap<&str, [Target; 2]> = BTreeMap::new();
                for (key, target) in keys.iter().zip(leads) {
                    let (pattern, place) = match key {
                        Key::Pattern(pattern) => (pattern, 0),
                        Key::Matched(pattern) => (pattern, 1),
                        _ => return None,
                    };
                    *by_pattern.entry(pattern).or_insert([Target::NOTHING; 2]).get_mut(place)? = target;
                }
                let patterns: Vec<&str> = by_pattern.keys().copied().collect();
                let map = Map::Pattern(Box::new(PatternSet::new(&patterns, MOST_PATTERN_BYTES, room)));
                return Some(Self { slot, map, targets: by_pattern.into_values().flatten().collect() });
            }
            MapKind::Truth | MapKind::Presence => {
                let mut targets = [Target::NOTHING; 2];
                for (key, target) in keys.iter().zip(leads) {
                    let id = usize::from(matches!(key, Key::Truth(true) | Key::Present));
                    *targets.get_mut(id)? = target;
                }
                let map = if kind == MapKind::Truth { Map::Truth } else { Map::Presence };
                return Some(Self { slot, map, targets: targets.into() });
            }
        };
        Some(Self { slot, map, targets: leads.into() })
    }
}

impl Map {
    /// The ids of the keys that hold.
    #[inline]
    fn each(&self, value: Loaded<'_>, mut hit: impl FnMut(u32)) {
        match (self, value) {
            (Self::Is(map), Loaded::Text(text)) => {
                if let Some(id) = map.get(text) {
                    hit(id);
                }
            }
            (Self::Prefix(map), Loaded::Text(text)) => map.for_each(text, hit),
            (Self::Suffix(map), Loaded::Text(text)) => map.for_each(text, hit),
            (Self::Contains(map), Loaded::Text(text)) => map.for_each(text, hit),
            (Self::ContainsFolded(map), Loaded::Text(text)) => map.for_each(text, hit),
            (Self::Range(map), Loaded::Number(number)) => map.for_each(number, hit),
            (Self::Network(map), Loaded::Address(address)) => map.for_each(address, hit),
            (Self::Pattern(map), Loaded::Text(text)) => {
                // Two ids for each: that it may match, and that it does.
                map.for_each(&String::from_utf8_lossy(text), |id, answer| {
                    hit(id.saturating_mul(2).saturating_add((answer == PatternMatch::Certain).into()));
                });
            }
            (Self::Truth, Loaded::Truth(truth)) => hit(truth.into()),
            (Self::Presence, value) => hit((!matches!(value, Loaded::Absent)).into()),
            // No key holds where there is no value.
            _ => {}
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Is(map) => map.heap_bytes().saturating_add(size_of_val(&**map)),
            Self::Prefix(map) => map.heap_bytes().saturating_add(size_of_val(&**map)),
            Self::Suffix(map) => map.heap_bytes().saturating_add(size_of_val(&**map)),
            Self::Contains(map) => map.heap_bytes().saturating_add(size_of_val(&**map)),
            Self::ContainsFolded(map) => map.heap_bytes().saturating_add(size_of_val(&**map)),
            Self::Range(map) => map.heap_bytes().saturating_add(size_of_val(&**map)),
            Self::Network(map) => map.heap_bytes().saturating_add(size_of_val(&**map)),
            Self::Pattern(map) => map.heap_bytes().saturating_add(size_of_val(&**map)),
            Self::Truth | Self::Presence => 0,
        }
    }
}
