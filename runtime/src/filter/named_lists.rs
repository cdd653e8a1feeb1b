//! Sets of the filter language as entries of named lists.

use celero_frontend::filter::{IpItem, SetItems};
use celero_lists::{Entries, Kind};

/// Returns the items of a set as entries of a [list](crate::Env::lists); `None` if an item can't be
/// one: an empty byte string, or one that is not UTF-8.
#[must_use]
pub fn list_entries(items: &SetItems) -> Option<Entries> {
    let (kind, texts): (Kind, Vec<String>) = match items {
        SetItems::Ints(items) => {
            (Kind::Integers, items.iter().map(|(first, last)| format!("{first}..{last}")).collect())
        }
        SetItems::Ips(items) => (Kind::Addresses, items.iter().map(address).collect()),
        SetItems::Bytes(items) => {
            let text = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(str::to_owned);
            (Kind::Texts, items.iter().map(|item| text(&item.value)).collect::<Option<_>>()?)
        }
    };
    Entries::from_texts(kind, texts).ok()
}

fn address(item: &IpItem) -> String {
    match item {
        IpItem::Network(address, prefix) => format!("{address}/{prefix}"),
        IpItem::Range(first, last) => format!("{first}..{last}"),
    }
}
