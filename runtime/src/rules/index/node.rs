//! The nodes of the index: lookups of attributes, and how a search goes from one to the next.

use super::attribute::{AttributeId, AttributeSource, Attributes, Unreadable};
use super::field_reader::FieldReader;
use super::findings::Findings;
use super::lookup::{Lookup, Matcher, NOWHERE, Target, TextMatcher, with_presence};
use crate::native::MIN_BATCHED_HEADERS;
use crate::scratch::NumberMap;
use celero_lists::{ListId, View as ListsView};
use celero_matching::{ExactMap, LiteralMap, PatternMatch};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A node of the tree of lookups.
#[derive(Debug)]
struct Node {
    /// Lookups of attributes that are read one by one, the cheapest first.
    single: Box<[Lookup]>,
    /// Lookups of headers that matter only if they are present. They are done in one pass over the
    /// request's headers, each of which is looked up among the names.
    present: Option<Box<PresentHeaders>>,
    /// The first candidate that any lookup leads to.
    least: u32,
}

impl Node {
    /// All lookups.
    fn lookups(&self) -> impl Iterator<Item = &Lookup> {
        self.single.iter().chain(self.present.iter().flat_map(|present| &present.lookups))
    }

    /// Number of lookups; one by presence counts even where it is part of another one.
    fn len(&self) -> usize {
        let both = |lookup: &Lookup| lookup.presence.is_some() && !matches!(lookup.matcher, Matcher::Presence);
        self.lookups().map(|lookup| usize::from(both(lookup)).saturating_add(1)).sum()
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

/// Working memory of a search, and the lists that it asks.
pub(super) struct Memory<'m> {
    /// The nodes that are still to be visited.
    pub(super) pending: &'m mut Vec<u32>,
    /// The keys that the current lookup has found.
    pub(super) keys: &'m mut NumberMap,
    /// The named lists of the evaluation, if a rule asks any.
    pub(super) lists: Option<&'m ListsView>,
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
        for lookup in with_presence(lookups) {
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
        single.sort_by_key(|lookup| lookup.matcher.rank());
        self.nodes.push(Node { single: single.into(), present, least: 0 });
        Some(number)
    }

    /// Replaces the numbers of the candidates; `numbers` is indexed by the old ones. Sorts the
    /// candidates of each target.
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
                for target in lookup.targets.iter().chain(lookup.presence.iter().flat_map(|targets| &**targets)) {
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

    /// The attributes of all lookups.
    pub(super) fn attributes(&self) -> impl Iterator<Item = AttributeId> {
        self.nodes.iter().flat_map(Node::lookups).map(|lookup| lookup.attribute)
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        let present = self.nodes.iter().filter_map(|node| node.present.as_ref());
        let of_lookups = self.nodes.iter().flat_map(Node::lookups).map(Lookup::bytes);
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

    /// Adds to `found` the candidates that a node leads to, as far as they are wanted. A key that a
    /// text repeats leads to them once, so the cost is linear in the text and in the targets.
    ///
    /// # Errors
    /// An attribute can't be read.
    #[inline]
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
                for lookup in &node.single {
                    if found.want(lookup.least) {
                        self.look_up(lookup, reader, found, &mut memory)?;
                    }
                }
                if let Some(present) = &node.present {
                    self.look_up_present(present, reader, found, &mut memory)?;
                }
            }
            next = memory.pending.pop();
        }
        Ok(())
    }

    /// Reads an attribute, and adds the candidates and nodes that a lookup of its value leads to.
    #[inline(always)]
    fn look_up<'a>(
        &self,
        lookup: &Lookup,
        reader: &mut FieldReader<'a, '_>,
        found: &mut Findings<'_>,
        memory: &mut Memory<'_>,
    ) -> Result<(), Unreadable> {
        let is_present = match &lookup.matcher {
            Matcher::Text(matcher) => {
                let value = reader.text(lookup.attribute)?;
                if let Some(text) = value {
                    self.look_up_text(lookup, matcher, text, found, memory)?;
                }
                value.is_some()
            }
            Matcher::Number(numbers) => {
                let value = reader.number(lookup.attribute)?;
                if let Some(number) = value {
                    numbers.for_each(number, |id| self.lead(lookup.targets.get(id as usize), found, memory.pending));
                }
                value.is_some()
            }
            Matcher::Network(networks) => {
                let value = reader.address(lookup.attribute)?;
                if let Some(address) = value {
                    networks.for_each(address, |id| self.lead(lookup.targets.get(id as usize), found, memory.pending));
                }
                value.is_some()
            }
            Matcher::AddressLists(lists) => {
                let value = reader.address(lookup.attribute)?;
                if let Some(address) = value {
                    self.ask_lists(lookup, lists, found, memory, |all, list| {
                        all.has_address(list, address) == Some(true)
                    })?;
                }
                value.is_some()
            }
            Matcher::NumberLists(lists) => {
                let value = reader.number(lookup.attribute)?;
                if let Some(number) = value {
                    // Lists have no other integers.
                    let number = i64::try_from(number).ok();
                    let has = |all: &ListsView, list| {
                        number.is_some_and(|number| all.has_integer(list, number) == Some(true))
                    };
                    self.ask_lists(lookup, lists, found, memory, has)?;
                }
                value.is_some()
            }
            Matcher::Truth => {
                let value = reader.truth(lookup.attribute)?;
                if let Some(truth) = value {
                    self.lead(lookup.targets.get(usize::from(truth)), found, memory.pending);
                }
                value.is_some()
            }
            Matcher::Presence => reader.is_present(lookup.attribute)?,
        };
        if let Some(presence) = &lookup.presence {
            self.lead(presence.get(usize::from(is_present)), found, memory.pending);
        }
        Ok(())
    }

    /// Does the lookups of the headers that are present.
    #[inline(never)]
    fn look_up_present<'a>(
        &self,
        present: &PresentHeaders,
        reader: &mut FieldReader<'a, '_>,
        found: &mut Findings<'_>,
        memory: &mut Memory<'_>,
    ) -> Result<(), Unreadable> {
        reader.headers(present.field, |reader, name, value| {
            let span = present.names.get(name).and_then(|name| present.spans.get(name as usize));
            let lookups = span.and_then(|&(first, end)| present.lookups.get(first as usize..end as usize));
            for lookup in lookups.unwrap_or_default() {
                // A header is text.
                if let Matcher::Text(matcher) = &lookup.matcher
                    && let Some(text) = reader.present(lookup.attribute, value)?.text()
                {
                    self.look_up_text(lookup, matcher, text, found, memory)?;
                }
                if let Some([_, present]) = lookup.presence.as_deref() {
                    self.lead(Some(present), found, memory.pending);
                }
            }
            Ok(())
        })
    }

    /// Adds the candidates and nodes that a lookup of a text leads to.
    #[inline(always)]
    fn look_up_text(
        &self,
        lookup: &Lookup,
        matcher: &TextMatcher,
        text: &[u8],
        found: &mut Findings<'_>,
        memory: &mut Memory<'_>,
    ) -> Result<(), Unreadable> {
        match matcher {
            TextMatcher::Is(map) => {
                if let Some(id) = map.get(text) {
                    self.lead(lookup.targets.get(id as usize), found, memory.pending);
                }
            }
            TextMatcher::Prefix(map) => {
                map.for_each(text, |id| self.lead(lookup.targets.get(id as usize), found, memory.pending));
            }
            TextMatcher::Suffix(map) => {
                map.for_each(text, |id| self.lead(lookup.targets.get(id as usize), found, memory.pending));
            }
            TextMatcher::Contains(map) => self.look_up_literals(lookup, map, text, found, memory),
            TextMatcher::ContainsFolded(map) => self.look_up_literals(lookup, map, text, found, memory),
            TextMatcher::Pattern(map) => map.for_each(&String::from_utf8_lossy(text), |id, answer| {
                let id = id.saturating_mul(2).saturating_add((answer == PatternMatch::Certain).into());
                self.lead(lookup.targets.get(id as usize), found, memory.pending);
            }),
            TextMatcher::Lists(lists) => {
                // As a rule sees it. Usually borrowed.
                let text = String::from_utf8_lossy(text);
                let has = |all: &ListsView, list| all.has_text(list, text.as_bytes()) == Some(true);
                self.ask_lists(lookup, lists, found, memory, has)?;
            }
        }
        Ok(())
    }

    /// Adds the candidates and nodes that the literals in a text lead to, until no more are wanted.
    #[inline(always)]
    fn look_up_literals<const IGNORE_CASE: bool>(
        &self,
        lookup: &Lookup,
        map: &LiteralMap<IGNORE_CASE>,
        text: &[u8],
        found: &mut Findings<'_>,
        Memory { pending, keys, .. }: &mut Memory<'_>,
    ) {
        let mut is_first = true;
        let _ = map.try_for_each(text, |id| {
            // A literal is reported for each place in the text where it is.
            if std::mem::take(&mut is_first) {
                keys.start(lookup.targets.len());
            } else if keys.get(id).is_some() {
                return ControlFlow::Continue(());
            }
            keys.insert(id, 0);
            self.lead(lookup.targets.get(id as usize), found, pending);
            if found.want(lookup.least) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
    }

    /// Asks each list once, and adds what those that have the value lead to.
    ///
    /// # Errors
    /// There are no lists, which the caller of a search gives wherever a rule asks one.
    #[inline(never)]
    fn ask_lists(
        &self,
        lookup: &Lookup,
        lists: &[ListId],
        found: &mut Findings<'_>,
        memory: &mut Memory<'_>,
        has: impl Fn(&ListsView, ListId) -> bool,
    ) -> Result<(), Unreadable> {
        let all = memory.lists.ok_or(Unreadable)?;
        for (list, target) in lists.iter().zip(&lookup.targets) {
            if !found.want(lookup.least) {
                break;
            }
            if has(all, *list) {
                self.lead(Some(target), found, memory.pending);
            }
        }
        Ok(())
    }

    /// Adds the candidates and the node of a target.
    #[inline]
    fn lead(&self, target: Option<&Target>, found: &mut Findings<'_>, pending: &mut Vec<u32>) {
        let Some(target) = target else { return };
        let first = target.first as usize;
        let candidates = self.postings.get(first..first.saturating_add(target.count as usize));
        found.add(candidates.unwrap_or_default());
        if target.node != NOWHERE {
            pending.push(target.node);
        }
    }
}
