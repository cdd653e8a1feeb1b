//! The prepared constants of a graph. Their addresses do not change, because native code contains them.

#[cfg(feature = "http")]
use super::header_table::HeaderTable;
use crate::arena::{Arena, EvalResult};
use crate::library::{ProjectionPlan, prepared_wildcard};
use crate::lower::value_of;
use crate::value::Value;
use celero_ir::{ConstId, Constant, ErrorKind, Graph};
use celero_jit::ConstantAddress;
use celero_matching::pattern::{ByteMatcher, PatternCache};
use celero_matching::{ByteSet, FewLiterals, Matcher, Searcher, Wildcard};
use std::collections::{HashMap, HashSet};

/// A needle made ready.
pub(super) type PreparedSearcher = Searcher<Box<[u8]>>;
/// A set of strings.
pub(super) type StrSet = ByteSet<false>;
/// A set of integers.
pub(super) type IntSet = HashSet<i64, foldhash::fast::RandomState>;

/// An object that native code uses by its address. The pool only owns it and never accesses it.
#[derive(Debug)]
#[expect(dead_code, reason = "read by native code")]
enum Prepared {
    Searcher(Box<PreparedSearcher>),
    Matcher(Box<Matcher>),
    ByteMatcher(Box<ByteMatcher>),
    Wildcard(Box<Wildcard>),
    FewLiterals(Box<FewLiterals>),
    StrSet(Box<StrSet>),
    IntSet(Box<IntSet>),
    Projection(Box<ProjectionPlan>),
    #[cfg(feature = "http")]
    HeaderName(Box<http::HeaderName>),
    #[cfg(feature = "http")]
    HeaderTable(Box<HeaderTable>),
}

/// All constants of a graph.
#[derive(Debug)]
pub(super) struct Pool {
    addresses: Vec<ConstantAddress>,
    /// Of patterns that are compiled later.
    later: HashMap<ConstId, usize>,
    prepared: Vec<Prepared>,
    /// Text and values. Written only while the pool is built.
    arena: Arena,
}

// SAFETY: an arena is not `Sync` because allocating through a shared reference would race; nothing
// allocates in this one through a shared reference, and the objects in it are plain data. All other
// members are `Sync` themselves.
unsafe impl Sync for Pool {}

impl Pool {
    /// Prepares the constants, in order.
    pub(super) fn new(constants: &[Constant], patterns: &PatternCache, limit: usize) -> EvalResult<Self> {
        let mut pool = Self::empty(limit);
        constants.iter().try_for_each(|constant| pool.add(constant, patterns))?;
        Ok(pool)
    }

    /// One with no constants yet.
    pub(super) fn empty(limit: usize) -> Self {
        Self { addresses: Vec::new(), later: HashMap::new(), prepared: Vec::new(), arena: Arena::new(limit) }
    }

    /// Prepares the next constant.
    fn add(&mut self, constant: &Constant, patterns: &PatternCache) -> EvalResult<()> {
        let added = address(constant, patterns, &self.arena, &mut self.prepared)?;
        self.addresses.push(added);
        Ok(())
    }

    /// Prepares a constant without recording its address: only this call uses it.
    pub(super) fn lone(&mut self, constant: &Constant, patterns: &PatternCache) -> EvalResult<ConstantAddress> {
        address(constant, patterns, &self.arena, &mut self.prepared)
    }

    /// The address of a pattern of a graph: that of the prepared one, or one that is compiled when it is first needed.
    pub(super) fn later(&mut self, id: ConstId, pattern: &str, patterns: &PatternCache) -> usize {
        self.either(id, || {
            let matcher = Box::new(Matcher::lazy(patterns.pattern(pattern), patterns.budget()));
            let address = std::ptr::from_ref(&*matcher) as usize;
            (Prepared::Matcher(matcher), address)
        })
    }

    /// [`later`](Self::later) for a pattern on bytes.
    pub(super) fn later_of_bytes(&mut self, id: ConstId, pattern: &str, patterns: &PatternCache) -> usize {
        self.either(id, || {
            let matcher = Box::new(ByteMatcher::lazy(pattern, patterns.budget()));
            let address = std::ptr::from_ref(&*matcher) as usize;
            (Prepared::ByteMatcher(matcher), address)
        })
    }

    /// The address of the prepared pattern, or of the one that `later` makes on the first call.
    fn either(&mut self, id: ConstId, later: impl FnOnce() -> (Prepared, usize)) -> usize {
        if let Some(prepared) = self.addresses.get(id.0 as usize)
            && *prepared != ConstantAddress::default()
        {
            return prepared.data;
        }
        *self.later.entry(id).or_insert_with(|| {
            let (object, address) = later();
            self.prepared.push(object);
            address
        })
    }

    /// Prepares a constant of a graph, and those constants only for which this was called.
    pub(super) fn prepare(
        &mut self,
        id: ConstId,
        graph: &Graph,
        patterns: &PatternCache,
    ) -> EvalResult<ConstantAddress> {
        if self.addresses.len() < graph.constants().len() {
            self.addresses.resize(graph.constants().len(), ConstantAddress::default());
        }
        let place = self.addresses.get_mut(id.0 as usize).ok_or(ErrorKind::Host)?;
        if *place == ConstantAddress::default() {
            let constant = graph.constant_at(id).ok_or(ErrorKind::Host)?;
            *place = address(constant, patterns, &self.arena, &mut self.prepared)?;
        }
        Ok(*place)
    }

    /// Keeps literals that are searched for together; gives their address.
    pub(super) fn add_literals(&mut self, literals: FewLiterals) -> usize {
        let literals = Box::new(literals);
        let address = std::ptr::from_ref(&*literals) as usize;
        self.prepared.push(Prepared::FewLiterals(literals));
        address
    }

    /// The number of objects that were prepared.
    pub(super) fn prepared(&self) -> usize {
        self.prepared.len()
    }

    /// Drops the objects after the first `count`, to which no code refers. They are no constants,
    /// so their addresses are not recorded.
    pub(super) fn drop_after(&mut self, count: usize) {
        self.prepared.truncate(count);
    }

    /// Prepares a table of header names; gives its address, and the names in its order.
    #[cfg(feature = "http")]
    pub(super) fn add_table(&mut self, names: &[&str]) -> Option<(usize, Vec<Box<str>>)> {
        let table = Box::new(HeaderTable::new(names)?);
        let (address, names) = (std::ptr::from_ref(&*table) as usize, table.names().map(Into::into).collect());
        self.prepared.push(Prepared::HeaderTable(table));
        Some((address, names))
    }

    #[cfg(not(feature = "http"))]
    pub(super) fn add_table(&mut self, _: &[&str]) -> Option<(usize, Vec<Box<str>>)> {
        None
    }

    /// Forgets the addresses, which only compiling needs.
    pub(super) fn forget_addresses(&mut self) {
        self.addresses = Vec::new();
        self.later = HashMap::new();
        self.prepared.shrink_to_fit();
    }

    /// The addresses, by constant.
    pub(super) fn addresses(&self) -> &[ConstantAddress] {
        &self.addresses
    }
}

fn address(
    constant: &Constant,
    patterns: &PatternCache,
    arena: &Arena,
    prepared: &mut Vec<Prepared>,
) -> EvalResult<ConstantAddress> {
    let mut object = |object: Prepared, address: usize| {
        prepared.push(object);
        Ok(ConstantAddress { data: address, len: 0, value: 0 })
    };
    fn of<T>(object: &T) -> usize {
        std::ptr::from_ref(object) as usize
    }
    match constant {
        Constant::Searcher(needle) => {
            let searcher = Box::new(PreparedSearcher::new((**needle).into()));
            let address = of(&*searcher);
            object(Prepared::Searcher(searcher), address)
        }
        Constant::Regex(pattern) => {
            let matcher = Box::new(patterns.matcher(pattern).map_err(|_| ErrorKind::InvalidArgument)?);
            let address = of(&*matcher);
            object(Prepared::Matcher(matcher), address)
        }
        Constant::ByteRegex(pattern) => {
            let matcher = Box::new(patterns.byte_matcher(pattern).map_err(|_| ErrorKind::InvalidArgument)?);
            let address = of(&*matcher);
            object(Prepared::ByteMatcher(matcher), address)
        }
        Constant::Wildcard(wildcard) => {
            let wildcard = Box::new(prepared_wildcard(wildcard));
            let address = of(&*wildcard);
            object(Prepared::Wildcard(wildcard), address)
        }
        Constant::StrSet(members) => {
            let set = Box::new(StrSet::new(members.iter().map(|member| &**member)));
            let address = of(&*set);
            object(Prepared::StrSet(set), address)
        }
        Constant::IntSet(members) => {
            let set: Box<IntSet> = Box::new(members.iter().copied().collect());
            let address = of(&*set);
            object(Prepared::IntSet(set), address)
        }
        Constant::Projection(projection) => {
            let plan = Box::new(ProjectionPlan::new(projection));
            let address = of(&*plan);
            object(Prepared::Projection(plan), address)
        }
        #[cfg(feature = "http")]
        Constant::HeaderName(name) => {
            let name = Box::new(name.parse::<http::HeaderName>().map_err(|_| ErrorKind::InvalidArgument)?);
            let address = of(&*name);
            object(Prepared::HeaderName(name), address)
        }
        #[cfg(not(feature = "http"))]
        Constant::HeaderName(_) => Err(ErrorKind::InvalidArgument),
        // Its words are in the parameter row.
        Constant::Parameter(_) => Ok(ConstantAddress::default()),
        plain => {
            let value = arena.alloc(value_of(plain, arena)?)?;
            let (data, len) = match value {
                Value::String(text) => (text.as_ptr() as usize, text.len()),
                Value::Bytes(bytes) => (bytes.as_ptr() as usize, bytes.len()),
                _ => (0, 0),
            };
            Ok(ConstantAddress { data, len, value: of(value) })
        }
    }
}
