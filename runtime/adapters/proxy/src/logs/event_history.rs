//! The last events, for the page of operators: requests that were refused, and reloads. Bounded in number and in bytes.

use jiff::Timestamp;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// How many entries of each kind are kept.
const KEPT: usize = 50;
/// The longest text that is kept, in characters.
const LONGEST: usize = 200;

/// A request that a rule or the proxy refused. Query, headers and body are not kept: they may hold secrets.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    pub(crate) at: Timestamp,
    pub(crate) client: String,
    pub(crate) method: String,
    pub(crate) host: String,
    pub(crate) path: String,
    pub(crate) status: u16,
    /// The name of the rule, or the reason of the proxy.
    pub(crate) by: String,
}

/// A reload.
#[derive(Clone, Debug)]
pub(crate) struct Reloaded {
    pub(crate) at: Timestamp,
    pub(crate) worked: bool,
    pub(crate) cause: String,
    /// What is new, or what is wrong.
    pub(crate) result: String,
}

/// The last entries of both kinds.
#[derive(Debug, Default)]
pub(crate) struct EventHistory {
    refused: Mutex<VecDeque<Refused>>,
    reloads: Mutex<VecDeque<Reloaded>>,
}

impl EventHistory {
    /// Adds an entry for a refused request. While another thread adds an entry, this one is
    /// dropped: a flood of them must not make requests wait.
    pub(crate) fn refused(&self, make: impl FnOnce() -> Refused) {
        let Ok(mut entries) = self.refused.try_lock() else { return };
        let mut entry = make();
        for text in [&mut entry.client, &mut entry.method, &mut entry.host, &mut entry.path, &mut entry.by] {
            *text = shortened(text);
        }
        push(&mut entries, entry);
    }

    pub(crate) fn reloaded(&self, cause: &str, result: Result<&str, &str>) {
        let (worked, text) = (result.is_ok(), result.unwrap_or_else(|error| error));
        let entry = Reloaded { at: Timestamp::now(), worked, cause: shortened(cause), result: shortened(text) };
        push(&mut self.reloads.lock().unwrap_or_else(PoisonError::into_inner), entry);
    }

    /// Returns the refused requests, the last one first.
    pub(crate) fn last_refused(&self) -> Vec<Refused> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).iter().rev().cloned().collect()
    }

    /// Returns the reloads, the last one first.
    pub(crate) fn last_reloads(&self) -> Vec<Reloaded> {
        self.reloads.lock().unwrap_or_else(PoisonError::into_inner).iter().rev().cloned().collect()
    }
}

fn push<T>(entries: &mut VecDeque<T>, entry: T) {
    if entries.len() >= KEPT {
        entries.pop_front();
    }
    entries.push_back(entry);
}

/// Returns the beginning of a text.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}..", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_bounded() {
        let history = EventHistory::default();
        for number in 0..200 {
            history.reloaded("a cause", Ok(&format!("{number} {}", "é".repeat(1000))));
        }
        let kept = history.last_reloads();
        assert_eq!(kept.len(), KEPT);
        assert!(kept[0].result.starts_with("199 é") && kept[0].result.chars().count() == LONGEST + 2);
    }
}
