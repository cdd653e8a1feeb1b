//! The nodes of the index: lookups of attributes, each with the candidates and further nodes that its keys lead to.

use super::attribute::{AttributeId, AttributeSource, AttributeValue, Attributes, Unreadable};
use super::field_reader::FieldReader;
use super::findings::Findings;
use super::keys::{IndexKey, LookupKind};
use crate::native::MIN_BATCHED_HEADERS;
use crate::scratch::NumberMap;
use celero_matching::{
    ExactMap, LiteralMap, MemoryBudget, Networks, PatternMatch, PatternSet, PrefixMap, RangeMap, SuffixMap,
};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Most bytes of the state tables of all patterns on one attribute.
const MOST_PATTERN_BYTES: usize = 4 << 20;
/// Stands for "no node".
const NOWHERE: u32 = u32::MAX;

/// What a key leads to: candidates, and a node whose lookups narrow down further candidates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    first: u32,
    count: u32,
    node: u32,
}

impl Target {
    const NOTHING: Self = Self { first: 0, count: 0, node: NOWHERE };
}

/// The keys of one group, and their targets in the order of the ids that the matcher reports.
#[derive(Debug)]
pub(super) struct Lookup {
    attribute: AttributeId,
    map: Matcher,
    targets: Box<[Target]>,
    /// The first candidate that any target leads to.
    least: u32,
}

#[derive(Debug)]
enum Matcher {
    Is(Box<ExactMap<false>>),
    Prefix(Box<PrefixMap>),
    Suffix(Box<SuffixMap>),
    Contains(Box<LiteralMap<false>>),
    ContainsFolded(Box<LiteralMap<true>>),
    Range(Box<RangeMap<i128>>),
    Network(Box<Networks>),
    Pattern(Box<PatternSet>),
    /// Id 0 stands for false, 1 for true.
    Truth,
    /// Id 0 stands for absence, 1 for presence.
    Presence,
}

/// A node of the tree of lookups.
#[derive(Debug)]
struct Node {
    /// Lookups of attributes that are read one by one, the cheapest first.
    single: Box<[Lookup]>,
    /// Lookups of headers that matter only if they are present. They are done in one pass over the request's headers, each of
    /// which is looked up among the names.
    present: Option<Box<PresentHeaders>>,
    /// The first candidate that any lookup leads to.
    least: u32,
}

impl Node {
    /// Number of lookups.
    fn len(&self) -> usize {
        self.single.len().saturating_add(self.present.as_ref().map_or(0, |present| present.lookups.len()))
    }
}

/// Lookups of headers, by name.
#[derive(Debug)]
struct PresentHeaders {
    /// The field that holds the header map.
    field: u32,
    names: ExactMap<true>,
    /// Indexed by name: the range of its lookups.
    spans: Box<[(u32, u32)]>,
    lookups: Box<[Lookup]>,
}

/// Working memory of a search.
pub(super) struct Memory<'m> {
    /// The nodes that are still to be visited.
    pub(super) pending: &'m mut Vec<u32>,
    /// The keys that the current lookup has found.
    pub(super) keys: &'m mut NumberMap,
}

/// The nodes of an index, and the candidates that they lead to.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    postings: Vec<u32>,
}

impl Nodes {
    /// Makes a target of these candidates and a node.
    pub(super) fn target(&mut self, candidates: &[u32], node: Option<u32>) -> Option<Target> {
        let first = u32::try_from(self.postings.len()).ok()?;
        self.postings.extend_from_slice(candidates);
        let count = u32::try_from(self.postings.len()).ok()?.checked_sub(first)?;
        Some(Target { first, count, node: node.unwrap_or(NOWHERE) })
    }

    /// Adds a node of these lookups, in which those of one attribute are adjacent. Returns its number.
    pub(super) fn add(&mut self, lookups: Vec<Lookup>, attributes: &Attributes) -> Option<u32> {
        let number = u32::try_from(self.nodes.len()).ok().filter(|number| *number != NOWHERE)?;
        let mut by_name: BTreeMap<(u32, Arc<str>), Vec<Lookup>> = BTreeMap::new();
        let mut single = Vec::new();
        for lookup in lookups {
            match attributes.get(lookup.attribute).map(|attribute| &attribute.source) {
                Some(AttributeSource::Header(field, name)) => {
                    by_name.entry((*field, name.clone())).or_default().push(lookup);
                }
                _ => single.push(lookup),
            }
        }
        let field = by_name.keys().next().map(|(field, _)| *field);
        let (mut names, mut spans, mut present) = (Vec::new(), Vec::new(), Vec::new());
        let eligible = |key: &(u32, Arc<str>), lookups: &[Lookup]| {
            Some(key.0) == field && !lookups.iter().any(Lookup::asks_for_absence)
        };
        let many = by_name.iter().filter(|(key, lookups)| eligible(key, lookups)).count() >= MIN_BATCHED_HEADERS;
        for (key, lookups) in by_name {
            if many && eligible(&key, &lookups) {
                let first = u32::try_from(present.len()).ok()?;
                present.extend(lookups);
                spans.push((first, u32::try_from(present.len()).ok()?));
                names.push(key.1);
            } else {
                single.extend(lookups);
            }
        }
        let present = field.filter(|_| many).map(|field| {
            let names = ExactMap::new(&names.iter().map(|name| name.as_bytes()).collect::<Vec<_>>());
            Box::new(PresentHeaders { field, names, spans: spans.into(), lookups: present.into() })
        });
        single.sort_by_key(|lookup| lookup.map.rank());
        self.nodes.push(Node { single: single.into(), present, least: 0 });
        Some(number)
    }

    /// Replaces the numbers of the candidates; `numbers` is indexed by the old ones. Sorts the candidates of each target.
    pub(super) fn renumber(&mut self, numbers: &[u32]) {
        for candidate in &mut self.postings {
            *candidate = numbers.get(*candidate as usize).copied().unwrap_or(*candidate);
        }
        let Self { nodes, postings } = self;
        // Indexed by node: its first candidate. A node comes after those that its targets lead to.
        let mut least_of: Vec<u32> = Vec::with_capacity(nodes.len());
        for node in nodes.iter_mut() {
            let present = node.present.iter_mut().flat_map(|present| &mut present.lookups);
            node.least = NOWHERE;
            for lookup in node.single.iter_mut().chain(present) {
                lookup.least = NOWHERE;
                for target in &lookup.targets {
                    let first = target.first as usize;
                    let own = postings.get_mut(first..first.saturating_add(target.count as usize)).unwrap_or_default();
                    own.sort_unstable();
                    let further = match target.node {
                        NOWHERE => NOWHERE,
                        // A node that is not known yet may lead anywhere.
                        node => least_of.get(node as usize).copied().unwrap_or(0),
                    };
                    lookup.least = lookup.least.min(own.first().copied().unwrap_or(NOWHERE)).min(further);
                }
                node.least = node.least.min(lookup.least);
            }
            least_of.push(node.least);
        }
        self.nodes.shrink_to_fit();
        self.postings.shrink_to_fit();
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        let present = self.nodes.iter().filter_map(|node| node.present.as_ref());
        let lookups =
            self.nodes.iter().flat_map(|node| &node.single).chain(present.clone().flat_map(|present| &present.lookups));
        let of_lookups = lookups.map(|lookup| {
            size_of::<Lookup>().saturating_add(lookup.map.bytes()).saturating_add(size_of_val(&*lookup.targets))
        });
        let of_present = present.map(|present| present.names.heap_bytes().saturating_add(size_of_val(&*present.spans)));
        let nodes = self.nodes.capacity().saturating_mul(size_of::<Node>());
        let postings = self.postings.capacity().saturating_mul(size_of::<u32>());
        of_lookups.chain(of_present).fold(nodes.saturating_add(postings), usize::saturating_add)
    }

    /// Number of lookups in all nodes.
    pub(super) fn lookups(&self) -> usize {
        self.nodes.iter().fold(0, |sum: usize, node| sum.saturating_add(node.len()))
    }

    /// Number of lookups of a node.
    pub(super) fn lookups_of(&self, node: u32) -> usize {
        self.nodes.get(node as usize).map_or(0, Node::len)
    }

    /// Adds to `found` the candidates that a node leads to, as far as they are wanted. A key that a text repeats leads to them once, so the
    /// cost is linear in the text and in the targets.
    ///
    /// # Errors
    /// An attribute can't be read.
    pub(super) fn gather<'a>(
        &self,
        root: u32,
        reader: &mut FieldReader<'a, '_>,
        found: &mut Findings<'_>,
        mut memory: Memory<'_>,
    ) -> Result<(), Unreadable> {
        memory.pending.clear();
        let mut next = Some(root);
        while let Some(number) = next {
            if let Some(node) = self.nodes.get(number as usize).filter(|node| found.want(node.least)) {
                self.visit(node, reader, found, &mut memory)?;
            }
            next = memory.pending.pop();
        }
        Ok(())
    }

    /// Does the lookups of a node.
    #[inline]
    fn visit<'a>(
        &self,
        node: &Node,
        reader: &mut FieldReader<'a, '_>,
        found: &mut Findings<'_>,
        memory: &mut Memory<'_>,
    ) -> Result<(), Unreadable> {
        for lookup in &node.single {
            if found.want(lookup.least) {
                let value = reader.read(lookup.attribute)?;
                self.look_up(lookup, value, found, memory);
            }
        }
        let Some(present) = &node.present else { return Ok(()) };
        reader.headers(present.field, |reader, name, value| {
            let span = present.names.get(name).and_then(|name| present.spans.get(name as usize));
            let lookups = span.and_then(|&(first, end)| present.lookups.get(first as usize..end as usize));
            for lookup in lookups.unwrap_or_default() {
                let value = reader.present(lookup.attribute, value)?;
                self.look_up(lookup, value, found, memory);
            }
            Ok(())
        })
    }

    /// Adds the candidates and nodes that a lookup leads to.
    #[inline]
    fn look_up(&self, lookup: &Lookup, value: AttributeValue<'_>, found: &mut Findings<'_>, memory: &mut Memory<'_>) {
        let Memory { pending, keys } = memory;
        let repeats = lookup.map.repeats_keys();
        if repeats {
            keys.start(lookup.targets.len());
        }
        lookup.map.each(value, |id| {
            if repeats {
                if keys.get(id).is_some() {
                    return ControlFlow::Continue(());
                }
                keys.insert(id, 0);
            }
            let Some(target) = lookup.targets.get(id as usize) else { return ControlFlow::Continue(()) };
            let first = target.first as usize;
            let candidates = self.postings.get(first..first.saturating_add(target.count as usize));
            found.add(candidates.unwrap_or_default());
            if target.node != NOWHERE {
                pending.push(target.node);
            }
            if found.want(lookup.least) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
    }
}

impl Lookup {
    /// Whether the absence of a value leads anywhere.
    fn asks_for_absence(&self) -> bool {
        matches!(self.map, Matcher::Presence)
            && self.targets.first().is_some_and(|absent| absent.count > 0 || absent.node != NOWHERE)
    }

    /// Builds a lookup from distinct keys of one kind and what each leads to. `budget` bounds the memory of compiled patterns.
    pub(super) fn new(
        attribute: AttributeId,
        kind: LookupKind,
        keys: &[&IndexKey],
        leads: Vec<Target>,
        budget: &MemoryBudget,
    ) -> Option<Self> {
        let texts = || keys.iter().map(|key| key.text()).collect::<Vec<_>>();
        let map = match kind {
            LookupKind::Is => Matcher::Is(Box::new(ExactMap::new(&texts()))),
            LookupKind::Prefix => Matcher::Prefix(Box::new(PrefixMap::new(&texts())?)),
            LookupKind::Suffix => Matcher::Suffix(Box::new(SuffixMap::new(&texts())?)),
            LookupKind::Contains => Matcher::Contains(Box::new(LiteralMap::new(&texts())?)),
            LookupKind::ContainsFolded => Matcher::ContainsFolded(Box::new(LiteralMap::new(&texts())?)),
            LookupKind::Range => {
                let range = |key: &IndexKey| if let IndexKey::Range(from, to) = *key { Some((from, to)) } else { None };
                let ranges: Option<Vec<_>> = keys.iter().map(|key| range(key)).collect();
                Matcher::Range(Box::new(RangeMap::new(&ranges?)))
            }
            LookupKind::Network => {
                let network =
                    |key: &IndexKey| if let IndexKey::Network(ip, prefix) = *key { Some((ip, prefix)) } else { None };
                let networks: Option<Vec<_>> = keys.iter().map(|key| network(key)).collect();
                Matcher::Network(Box::new(Networks::new(&networks?)))
            }
            LookupKind::Pattern => {
                let mut by_pattern: BTreeMap<&str, [Target; 2]> = BTreeMap::new();
                for (key, target) in keys.iter().zip(leads) {
                    let (pattern, place) = match key {
                        IndexKey::Pattern(pattern) => (pattern, 0),
                        IndexKey::Matched(pattern) => (pattern, 1),
                        _ => return None,
                    };
                    *by_pattern.entry(pattern).or_insert([Target::NOTHING; 2]).get_mut(place)? = target;
                }
                let patterns: Vec<&str> = by_pattern.keys().copied().collect();
                let map = Matcher::Pattern(Box::new(PatternSet::new(&patterns, MOST_PATTERN_BYTES, budget)));
                let targets = by_pattern.into_values().flatten().collect();
                return Some(Self { attribute, map, targets, least: 0 });
            }
            LookupKind::Truth | LookupKind::Presence => {
                let mut targets = [Target::NOTHING; 2];
                for (key, target) in keys.iter().zip(leads) {
                    let id = usize::from(matches!(key, IndexKey::Truth(true) | IndexKey::Present));
                    *targets.get_mut(id)? = target;
                }
                let map = if kind == LookupKind::Truth { Matcher::Truth } else { Matcher::Presence };
                return Some(Self { attribute, map, targets: targets.into(), least: 0 });
            }
        };
        Some(Self { attribute, map, targets: leads.into(), least: 0 })
    }
}

impl Matcher {
    /// Reports the ids of the keys that hold for a value, until `hit` wants no more; matchers that are never slow report all.
    #[inline]
    fn each(&self, value: AttributeValue<'_>, mut hit: impl FnMut(u32) -> ControlFlow<()>) {
        let _ = match (self, value) {
            (Self::Contains(map), AttributeValue::Text(text)) => map.try_for_each(text, hit),
            (Self::ContainsFolded(map), AttributeValue::Text(text)) => map.try_for_each(text, hit),
            _ => {
                self.all(value, |id| {
                    let _ = hit(id);
                });
                return;
            }
        };
    }

    /// Reports the ids of the keys that hold for a value, but for literals.
    #[inline]
    fn all(&self, value: AttributeValue<'_>, mut hit: impl FnMut(u32)) {
        match (self, value) {
            (Self::Is(map), AttributeValue::Text(text)) => {
                if let Some(id) = map.get(text) {
                    hit(id);
                }
            }
            (Self::Prefix(map), AttributeValue::Text(text)) => map.for_each(text, hit),
            (Self::Suffix(map), AttributeValue::Text(text)) => map.for_each(text, hit),
            (Self::Range(map), AttributeValue::Number(number)) => map.for_each(number, hit),
            (Self::Network(map), AttributeValue::Address(address)) => map.for_each(address, hit),
            (Self::Pattern(map), AttributeValue::Text(text)) => {
                // Two ids for each: that it may match, and that it does.
                map.for_each(&String::from_utf8_lossy(text), |id, answer| {
                    hit(id.saturating_mul(2).saturating_add((answer == PatternMatch::Certain).into()));
                });
            }
            (Self::Truth, AttributeValue::Truth(truth)) => hit(truth.into()),
            (Self::Presence, value) => hit((!matches!(value, AttributeValue::Absent)).into()),
            // No key holds where there is no value.
            _ => {}
        }
    }

    /// Whether a key is reported for each place in the text where it is.
    fn repeats_keys(&self) -> bool {
        matches!(self, Self::Contains(_) | Self::ContainsFolded(_))
    }

    /// The place of a lookup among those of its node: cheap ones first, because what they find may make others superfluous.
    fn rank(&self) -> u8 {
        match self {
            Self::Truth | Self::Presence | Self::Is(_) | Self::Range(_) => 0,
            Self::Network(_) | Self::Prefix(_) | Self::Suffix(_) => 1,
            Self::Contains(_) | Self::ContainsFolded(_) => 2,
            Self::Pattern(_) => 3,
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
