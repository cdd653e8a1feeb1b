//! What the Rust of the cells shares: prepared patterns and networks, and steps that several cells need.

use celero::values::{Duration, Timestamp};
use jiff::tz::TimeZone;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::sync::LazyLock;

/// A pattern that is compiled once.
macro_rules! regex {
    ($pattern:literal) => {{
        static PATTERN: std::sync::LazyLock<regex::Regex> =
            std::sync::LazyLock::new(|| regex::Regex::new($pattern).expect("a pattern"));
        &*PATTERN
    }};
}

/// A network that is parsed once.
macro_rules! net {
    ($text:literal) => {{
        static NET: std::sync::LazyLock<ipnet::IpNet> = std::sync::LazyLock::new(|| $text.parse().expect("a network"));
        &*NET
    }};
}

/// A text that is searched for, prepared once.
macro_rules! finder {
    ($needle:literal) => {{
        static FINDER: std::sync::LazyLock<memchr::memmem::Finder<'static>> =
            std::sync::LazyLock::new(|| memchr::memmem::Finder::new($needle));
        &*FINDER
    }};
}

/// A name of a header that is parsed once.
macro_rules! name {
    ($name:literal) => {{
        static NAME: http::HeaderName = http::HeaderName::from_static($name);
        &NAME
    }};
}

pub(super) use {finder, name, net, regex};

/// Whether a text matches a pattern that is not known before, but usually the same again.
pub(super) fn matches(pattern: &str, text: &str) -> Option<bool> {
    thread_local! {
        static LAST: RefCell<Option<(String, regex::Regex)>> = const { RefCell::new(None) };
    }
    LAST.with_borrow_mut(|last| {
        if last.as_ref().is_none_or(|(known, _)| known != pattern) {
            *last = Some((pattern.to_owned(), regex::Regex::new(pattern).ok()?));
        }
        last.as_ref().map(|(_, compiled)| compiled.is_match(text))
    })
}

pub(super) fn is(text: &impl AsRef<str>, other: &(impl AsRef<str> + ?Sized)) -> bool {
    text.as_ref() == other.as_ref()
}

pub(super) fn joined<'a, T: AsRef<str> + 'a>(texts: impl Iterator<Item = &'a T>, separator: &str) -> String {
    texts.map(AsRef::as_ref).collect::<Vec<&str>>().join(separator)
}

pub(super) fn cookie<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    header.split(';').find_map(|pair| pair.trim_start().split_once('=').filter(|(n, _)| *n == name).map(|(_, v)| v))
}

/// A time in nanoseconds since 1970 as seen in a zone.
pub(super) fn zoned(nanos: i64, zone: &TimeZone) -> Option<jiff::Zoned> {
    Some(jiff::Timestamp::from_nanosecond(nanos.into()).ok()?.to_zoned(zone.clone()))
}

pub(super) fn paris() -> &'static TimeZone {
    static PARIS: LazyLock<TimeZone> = LazyLock::new(|| TimeZone::get("Europe/Paris").expect("a zone"));
    &PARIS
}

pub(super) fn civil(time: Timestamp, zone: &TimeZone) -> Option<jiff::Zoned> {
    zoned(nanos(time), zone)
}

pub(super) fn nanos(time: Timestamp) -> i64 {
    time.seconds * 1_000_000_000 + time.nanos
}

pub(super) fn sorted<T: Clone + Ord>(list: &[T]) -> Vec<T> {
    let mut list = list.to_vec();
    list.sort();
    list
}

pub(super) fn sorted_by<T: Clone>(list: &[T], compare: impl FnMut(&T, &T) -> Ordering) -> Vec<T> {
    let mut list = list.to_vec();
    list.sort_by(compare);
    list
}

pub(super) fn seconds(span: Duration) -> i64 {
    span.0 / 1_000_000_000
}
