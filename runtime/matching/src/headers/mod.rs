//! A fixed set of header names and header name prefixes.

mod filter;
mod prefixes;

use crate::byte_set::{ByteSet, Ends};
use filter::Filter;
use http::{HeaderMap, HeaderName};
use prefixes::Prefixes;
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// A fixed set of header names and header name prefixes, such as the headers that a proxy uses
/// internally and must neither accept from a client nor forward to a server.
///
/// Names are matched without regard to case. A lookup takes a few nanoseconds, for any name and any
/// size of the set. It does not allocate, and threads may share the set.
///
/// ```
/// use celero_matching::HeaderSet;
///
/// let internal = HeaderSet::new(["cf-int-ray", "cf-int-zone"], ["x-internal-"])?;
/// let mut request = http::Request::get("/").header("CF-Int-Ray", "1").header("X-Internal-Route", "a").body(())?;
///
/// assert!(internal.contains("x-internal-route") && !internal.contains("host"));
/// assert_eq!(internal.find(request.headers()).count(), 2);
/// assert_eq!(internal.remove(request.headers_mut()), 2);
/// assert!(request.headers().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct HeaderSet {
    filter: Filter,
    names: ByteSet<true>,
    prefixes: Prefixes,
}

impl HeaderSet {
    /// Largest number of names, and of prefixes, of a set.
    pub const MAX: usize = u16::MAX as usize;

    /// Builds the set of the headers that have one of `names`, or a name that begins with one of
    /// `prefixes`. Both may be empty.
    ///
    /// # Errors
    /// If a name or prefix can't be that of a header (it is empty, too long, or has a byte that
    /// header names can't have), or if there are more than [`MAX`](Self::MAX).
    pub fn new<N, P>(names: N, prefixes: P) -> Result<Self, HeaderSetError>
    where
        N: IntoIterator<Item: AsRef<[u8]>>,
        P: IntoIterator<Item: AsRef<[u8]>>,
    {
        let names = checked("name", names)?;
        let prefixes = checked("prefix", prefixes)?;
        let mut filter = Filter::default();
        names.iter().for_each(|name| filter.add_name(name));
        prefixes.iter().for_each(|prefix| filter.add_prefix(prefix));
        Ok(Self { filter, names: ByteSet::new(names), prefixes: Prefixes::new(prefixes) })
    }

    /// Returns whether a header of this name is in the set.
    #[must_use]
    #[inline]
    pub fn contains(&self, name: impl AsRef<[u8]>) -> bool {
        let name = name.as_ref();
        self.filter.passes(name) && self.holds(name)
    }

    fn holds(&self, name: &[u8]) -> bool {
        let ends = Ends::of(name);
        self.names.find(ends, name).is_some() || self.prefixes.begin(ends, name)
    }

    /// Returns the names in `headers` that are in the set, each once, in the order of the map.
    pub fn find<'m, T>(&self, headers: &'m HeaderMap<T>) -> impl Iterator<Item = &'m HeaderName> + use<'m, '_, T> {
        headers.keys().filter(|name| self.contains(name.as_str()))
    }

    /// Removes all headers that are in the set, with all their values. Returns the number of names removed.
    pub fn remove<T>(&self, headers: &mut HeaderMap<T>) -> usize {
        let found: SmallVec<[HeaderName; 8]> = self.find(headers).cloned().collect();
        for name in &found {
            headers.remove(name);
        }
        found.len()
    }
}

fn checked(kind: &'static str, given: impl IntoIterator<Item: AsRef<[u8]>>) -> Result<Vec<Box<[u8]>>, HeaderSetError> {
    let mut checked = BTreeSet::new();
    for text in given {
        let text = text.as_ref();
        let name = HeaderName::from_bytes(text).map_err(|_| HeaderSetError {
            kind,
            text: Some(String::from_utf8_lossy(text.get(..SHOWN).unwrap_or(text)).into_owned()),
        })?;
        checked.insert(Box::from(name.as_str().as_bytes()));
        if checked.len() > HeaderSet::MAX {
            return Err(HeaderSetError { kind, text: None });
        }
    }
    Ok(checked.into_iter().collect())
}

/// Bytes of an invalid name that an error shows.
const SHOWN: usize = 100;

/// Why a [`HeaderSet`] can't be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderSetError {
    kind: &'static str,
    /// The invalid name or prefix; `None` if there are too many.
    text: Option<String>,
}

impl std::fmt::Display for HeaderSetError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.text, self.kind) {
            (Some(text), kind) if text.is_empty() => write!(f, "the {kind} of a header must not be empty"),
            (Some(text), "name") => write!(f, "{text:?} is not the name of a header"),
            (Some(text), _) => write!(f, "{text:?} cannot begin the name of a header"),
            (None, "name") => write!(f, "a set of headers has at most {} names", HeaderSet::MAX),
            (None, _) => write!(f, "a set of headers has at most {} prefixes", HeaderSet::MAX),
        }
    }
}

impl std::error::Error for HeaderSetError {}
