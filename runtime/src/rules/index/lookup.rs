//! Lookups: the keys of one kind on one attribute, as a matcher, each with the candidates and the
//! further node that it leads to.

use super::attribute::{AttributeId, AttributeKind};
use super::keys::{IndexKey, LookupKind};
use super::numbers::Numbers;
use celero_lists::ListId;
use celero_matching::pattern::PatternCache;
use celero_matching::{ExactMap, LiteralMap, Networks, PatternSet, PrefixMap, SuffixMap};
use std::collections::BTreeMap;

/// Most bytes of the state tables of all patterns on one attribute.
const MAX_PATTERN_BYTES: usize = 4 << 20;
/// Stands for "no node".
pub(super) const NOWHERE: u32 = u32::MAX;

/// What a key leads to: candidates, and a node whose lookups narrow down further candidates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) first: u32,
    pub(super) count: u32,
    pub(super) node: u32,
}

impl Target {
    const NOTHING: Self = Self { first: 0, count: 0, node: NOWHERE };
}

/// The keys of one group, and their targets in the order of the ids that the matcher reports.
#[derive(Debug)]
pub(super) struct Lookup {
    pub(super) attribute: AttributeId,
    pub(super) matcher: Matcher,
    pub(super) targets: Box<[Target]>,
    /// What the absence of the value, and its presence, lead to, if anything.
    pub(super) presence: Option<Box<[Target; 2]>>,
    /// The first candidate that any target leads to.
    pub(super) least: u32,
}

#[derive(Debug)]
pub(super) enum Matcher {
    Text(TextMatcher),
    Number(Box<Numbers>),
    Network(Box<Networks>),
    /// Named lists that are asked for an address, and for a number: as text's [`TextMatcher::Lists`].
    AddressLists(Box<[ListId]>),
    NumberLists(Box<[ListId]>),
    /// Id 0 stands for false, 1 for true.
    Truth,
    /// Of which only the presence matters.
    Presence,
}

/// Finds keys that are about text.
#[derive(Debug)]
pub(super) enum TextMatcher {
    Is(Box<ExactMap<false>>),
    Prefix(Box<PrefixMap>),
    Suffix(Box<SuffixMap>),
    Contains(Box<LiteralMap<false>>),
    /// Some in either case, and those that have to have their own.
    ContainsFolded(Box<LiteralMap<true>>),
    /// Two ids for each pattern: that it may match, and that it does.
    Pattern(Box<PatternSet>),
    /// Named lists, each of which is asked. Their entries are those of the evaluation.
    Lists(Box<[ListId]>),
}

impl Lookup {
    /// Whether the absence of a value leads anywhere.
    pub(super) fn asks_for_absence(&self) -> bool {
        self.presence.as_deref().is_some_and(|[absent, _]| absent.count > 0 || absent.node != NOWHERE)
    }

    /// Builds a lookup from distinct keys of one kind and what each leads to. `value` is as what
    /// the attribute is read; `patterns` says the dialect of patterns and bounds their memory.
    pub(super) fn new(
        (attribute, value): (AttributeId, AttributeKind),
        kind: LookupKind,
        keys: &[&IndexKey],
        leads: Vec<Target>,
        patterns: &PatternCache,
    ) -> Option<Self> {
        let texts = || keys.iter().map(|key| key.text()).collect::<Vec<_>>();
        let matcher = match kind {
            LookupKind::Is => Matcher::Text(TextMatcher::Is(Box::new(ExactMap::new(&texts())))),
            LookupKind::Prefix => Matcher::Text(TextMatcher::Prefix(Box::new(PrefixMap::new(&texts())?))),
            LookupKind::Suffix => Matcher::Text(TextMatcher::Suffix(Box::new(SuffixMap::new(&texts())?))),
            LookupKind::Contains => Matcher::Text(TextMatcher::Contains(Box::new(LiteralMap::new(&texts())?))),
            LookupKind::ContainsFolded => {
                let texts = texts();
                let exact = keys.partition_point(|key| matches!(key, IndexKey::Contains(_)));
                let (exact, others) = texts.split_at_checked(exact)?;
                Matcher::Text(TextMatcher::ContainsFolded(Box::new(LiteralMap::with_exact(exact, others)?)))
            }
            LookupKind::Range => {
                let range = |key: &IndexKey| if let IndexKey::Range(from, to) = *key { Some((from, to)) } else { None };
                let ranges: Option<Vec<_>> = keys.iter().map(|key| range(key)).collect();
                Matcher::Number(Box::new(Numbers::new(&ranges?)))
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
                let texts: Vec<_> = by_pattern.keys().map(|pattern| patterns.pattern(pattern)).collect();
                let patterns = PatternSet::new(&texts, MAX_PATTERN_BYTES, patterns.budget());
                let matcher = Matcher::Text(TextMatcher::Pattern(Box::new(patterns)));
                let targets = by_pattern.into_values().flatten().collect();
                return Some(Self { attribute, matcher, targets, presence: None, least: 0 });
            }
            LookupKind::Listed => {
                let list = |key: &IndexKey| if let IndexKey::Listed(list) = key { Some(list.id) } else { None };
                let lists: Box<[ListId]> = keys.iter().map(|key| list(key)).collect::<Option<_>>()?;
                match value {
                    AttributeKind::Address => Matcher::AddressLists(lists),
                    AttributeKind::Number => Matcher::NumberLists(lists),
                    AttributeKind::Text | AttributeKind::Lower => Matcher::Text(TextMatcher::Lists(lists)),
                    AttributeKind::Truth | AttributeKind::Presence => return None,
                }
            }
            LookupKind::Truth | LookupKind::Presence => {
                let mut targets = [Target::NOTHING; 2];
                for (key, target) in keys.iter().zip(leads) {
                    let id = usize::from(matches!(key, IndexKey::Truth(true) | IndexKey::Present));
                    *targets.get_mut(id)? = target;
                }
                return Some(if kind == LookupKind::Truth {
                    Self { attribute, matcher: Matcher::Truth, targets: targets.into(), presence: None, least: 0 }
                } else {
                    let presence = Some(Box::new(targets));
                    Self { attribute, matcher: Matcher::Presence, targets: Box::default(), presence, least: 0 }
                });
            }
        };
        Some(Self { attribute, matcher, targets: leads.into(), presence: None, least: 0 })
    }
}

/// The keys of one kind on one attribute, and what each leads to.
pub(super) struct KeyGroup<'k> {
    pub(super) attribute: AttributeId,
    pub(super) kind: LookupKind,
    pub(super) tests: Vec<&'k IndexKey>,
    pub(super) targets: Vec<Target>,
}

/// Sorts groups by attribute, and makes those of literals in one text one group, whatever case they
/// have to have: the text is then searched once. Literals that have to have their own case come
/// first.
pub(super) fn with_literals_together(mut groups: Vec<KeyGroup<'_>>) -> Vec<KeyGroup<'_>> {
    groups.sort_by_key(|group| (group.attribute, group.kind));
    let mut all: Vec<KeyGroup<'_>> = Vec::with_capacity(groups.len());
    for group in groups {
        let exact = all.last_mut().filter(|last| {
            (last.attribute, last.kind, group.kind)
                == (group.attribute, LookupKind::Contains, LookupKind::ContainsFolded)
        });
        match exact {
            Some(exact) => {
                exact.kind = group.kind;
                exact.tests.extend(group.tests);
                exact.targets.extend(group.targets);
            }
            None => all.push(group),
        }
    }
    all
}

/// Makes lookups by presence part of another lookup of the same attribute, if there is one: the
/// value is then read once. Lookups of one attribute are adjacent.
pub(super) fn with_presence(lookups: Vec<Lookup>) -> Vec<Lookup> {
    let mut all: Vec<Lookup> = Vec::with_capacity(lookups.len());
    for mut lookup in lookups {
        let last = all.last_mut().filter(|last| last.attribute == lookup.attribute);
        match last {
            Some(last) if matches!(lookup.matcher, Matcher::Presence) => last.presence = lookup.presence,
            Some(last) if matches!(last.matcher, Matcher::Presence) => {
                lookup.presence = last.presence.take();
                *last = lookup;
            }
            _ => all.push(lookup),
        }
    }
    all
}

impl Lookup {
    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        let presence = self.presence.as_ref().map_or(0, |targets| size_of_val(&**targets));
        let own = size_of::<Self>().saturating_add(size_of_val(&*self.targets)).saturating_add(presence);
        own.saturating_add(self.matcher.bytes())
    }
}

impl Matcher {
    /// The place of a lookup among those of its node: cheap ones first, because what they find may
    /// make others superfluous.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Truth | Self::Presence | Self::Text(TextMatcher::Is(_)) | Self::Number(_) => 0,
            Self::Network(_) | Self::Text(TextMatcher::Prefix(_) | TextMatcher::Suffix(_)) => 1,
            Self::Text(TextMatcher::Contains(_) | TextMatcher::ContainsFolded(_)) => 2,
            Self::AddressLists(_) | Self::NumberLists(_) | Self::Text(TextMatcher::Lists(_)) => 2,
            Self::Text(TextMatcher::Pattern(_)) => 3,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Text(matcher) => matcher.bytes(),
            Self::Number(numbers) => numbers.heap_bytes().saturating_add(size_of_val(&**numbers)),
            Self::Network(networks) => networks.heap_bytes().saturating_add(size_of_val(&**networks)),
            Self::AddressLists(lists) | Self::NumberLists(lists) => size_of_val(&**lists),
            Self::Truth | Self::Presence => 0,
        }
    }
}

impl TextMatcher {
    fn bytes(&self) -> usize {
        let (heap, own) = match self {
            Self::Is(map) => (map.heap_bytes(), size_of_val(&**map)),
            Self::Prefix(map) => (map.heap_bytes(), size_of_val(&**map)),
            Self::Suffix(map) => (map.heap_bytes(), size_of_val(&**map)),
            Self::Contains(map) => (map.heap_bytes(), size_of_val(&**map)),
            Self::ContainsFolded(map) => (map.heap_bytes(), size_of_val(&**map)),
            Self::Pattern(map) => (map.heap_bytes(), size_of_val(&**map)),
            Self::Lists(lists) => (0, size_of_val(&**lists)),
        };
        own.saturating_add(heap)
    }
}
