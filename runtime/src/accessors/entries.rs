//! Finding entries of maps and sets: functions that return the address of a value, which native code reads where it is.

use celero_ir::layout::{Access, Entries, EntryValue, Path};
use celero_ir::{ErrorKind, Ty};

/// A key of a rule.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EntryKey<'k> {
    Text(&'k str),
    Int(i64),
    Uint(u64),
    Bool(bool),
}

/// The answer of a map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundEntry {
    /// The address of the value, for a set that of the element; null if there is none.
    pub(crate) value: *const u8,
    /// The number of entries, among which the key was looked up.
    pub(crate) count: usize,
}

impl FoundEntry {
    /// The number of entries of a map that is absent.
    pub(crate) const ABSENT: usize = usize::MAX;
}

/// A map or a set.
pub(crate) trait EntryView {
    /// A value; for a set an element.
    type Value;

    /// Returns the value under a key.
    fn find(&self, key: EntryKey<'_>) -> Option<&Self::Value>;

    fn count(&self) -> usize;
}

/// A map whose values can be made into what rules read.
pub(crate) trait MakeEntry: EntryView {
    /// The memory for what is made.
    type Memory;
    /// What is made.
    type Made<'s>;

    /// Makes it.
    ///
    /// # Errors
    /// Those of the value.
    fn make<'s>(value: &'s Self::Value, memory: &'s Self::Memory) -> Result<Self::Made<'s>, ErrorKind>;
}

/// A map or a set that may be absent.
impl<V: EntryView> EntryView for Option<V> {
    type Value = V::Value;

    fn find(&self, key: EntryKey<'_>) -> Option<&V::Value> {
        self.as_ref()?.find(key)
    }

    fn count(&self) -> usize {
        self.as_ref().map_or(FoundEntry::ABSENT, V::count)
    }
}

impl<V: MakeEntry> MakeEntry for Option<V> {
    type Memory = V::Memory;
    type Made<'s> = V::Made<'s>;

    fn make<'s>(value: &'s V::Value, memory: &'s V::Memory) -> Result<V::Made<'s>, ErrorKind> {
        V::make(value, memory)
    }
}

/// Finds an entry of the map at an address: `Entries::find`. It may panic where the host's types do.
pub(crate) type FindEntry = unsafe fn(*const u8, EntryKey<'_>) -> FoundEntry;

/// # Safety
/// `map` is the address of a `V` that is neither moved nor changed for as long as the returned address is used.
unsafe fn found_in<V: EntryView>(map: *const u8, key: EntryKey<'_>) -> FoundEntry {
    // SAFETY: the contract. Native code keeps it: it passes the address that `Context::fields`
    // describes, in a host that is borrowed for the whole evaluation.
    let map = unsafe { &*map.cast::<V>() };
    let value = map.find(key).map_or(std::ptr::null(), |value| std::ptr::from_ref(value).cast());
    FoundEntry { value, count: map.count() }
}

/// # Safety
/// `value` is an address that [`found_in`] returned for this type, in a map that is neither moved
/// nor changed for as long as the result is used.
unsafe fn made_of<'s, V: MakeEntry>(value: *const u8, memory: &'s V::Memory) -> Result<V::Made<'s>, ErrorKind>
where
    V::Value: 's,
{
    // SAFETY: the contract. The reference lives as long as the memory is borrowed, within which the result is used.
    V::make(unsafe { &*value.cast::<V::Value>() }, memory)
}

/// How native code finds the elements of a set; the path starts at its address.
pub(crate) fn set_entries<V: EntryView>(key: Ty) -> Entries {
    let find: FindEntry = found_in::<V>;
    Entries { path: Path(vec![0]), key, find: find as *const () as usize, value: None }
}

/// How native code finds the entries of a map whose values it reads as this type; the path starts at its address.
pub(crate) fn map_entries<V: MakeEntry>(key: Ty, ty: Ty, access: Access) -> Entries {
    let make = made_of::<V> as *const () as usize;
    Entries { value: Some(EntryValue { ty, access, make }), ..set_entries::<V>(key) }
}
