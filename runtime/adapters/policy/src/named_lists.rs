//! The section `lists`: named lists that expressions ask as `value in lists.NAME`, with entries in the policy and in files.

use crate::document::{Document, Section, read_file};
use crate::problems::Problems;
use crate::yaml::{MapEntry, Node, SourceText};
use celero::lists::{Entries, Kind, Limits, Lists, ListsError, WrongEntries};
use celero_lists::{Format, ListType};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Most wrong entries of a file that are reported one by one.
const MOST_REPORTED: usize = 20;

/// Returns the lists of a policy without their entries, which [`fill`] adds; `None` if there are none. Reports names that are not valid, and
/// lists that two files have.
pub(crate) fn declare(document: &Document, problems: &mut Problems) -> Option<Lists> {
    let entries = document.entries("lists", problems);
    if entries.is_empty() {
        return None;
    }
    let lists = Lists::new(Limits::default());
    for entry in entries {
        let Some(kind) = kind(&entry.value) else { continue };
        if let Err(error) = lists.declare(&entry.key.text, kind) {
            problems.add("policy-list", entry.key.place, error.to_string());
        }
    }
    Some(lists)
}

/// The sections `lists` of a policy, each with the folder that relative paths in it start from.
#[derive(Debug)]
pub(crate) struct ListSections(Vec<(Node, PathBuf)>);

impl ListSections {
    pub(crate) fn of(document: &Document) -> Self {
        let sections = document.all("lists");
        Self(sections.map(|section| (section.node.clone(), section.base.to_owned())).collect())
    }

    fn all(&self) -> impl Iterator<Item = Section<'_>> {
        self.0.iter().map(|(node, base)| Section { node, base })
    }

    /// Returns the names of the lists that have files, with these.
    pub(crate) fn files(&self) -> impl Iterator<Item = (String, Vec<PathBuf>)> {
        let lists =
            self.all().flat_map(|section| section.node.entries().iter().map(move |entry| (entry, section.base)));
        let with_files = lists.map(|(MapEntry { key, value }, base)| {
            (key.text.clone(), value.texts_of("files").iter().map(|path| base.join(&path.text)).collect())
        });
        with_files.filter(|(_, files): &(String, Vec<PathBuf>)| !files.is_empty())
    }
}

/// Adds the entries of all lists in one change, and leaves out those that have expired. Reports every wrong entry.
pub(crate) fn fill(lists: &Lists, sections: &ListSections, problems: &mut Problems) {
    let before = problems.count();
    let mut change = lists.change();
    for section in sections.all() {
        for MapEntry { key, value } in section.node.entries() {
            // Other names and kinds were reported.
            let Some((_, kind)) = lists.load().find(&key.text) else { continue };
            let mut all = Entries::new(kind);
            for text in value.texts_of("entries") {
                match Entries::from_texts(kind, [&text.text]) {
                    Ok(entries) => all.append(entries),
                    Err(wrong) => {
                        let reason = wrong.listed().first().map_or("", |entry| &entry.reason);
                        let message = format!("`{}` is no entry of a list of {kind}: {reason}", text.text);
                        problems.add("policy-list", text.place, message);
                    }
                }
            }
            for path in value.texts_of("files") {
                if let Some(entries) = read(kind, &path, section.base, problems) {
                    all.append(entries);
                }
            }
            change = change.replace(&key.text, all);
        }
    }
    if problems.count() > before {
        return;
    }
    let result = change.commit().and_then(|_| lists.expire(SystemTime::now()));
    if let (Err(error), Some(first)) = (result, sections.all().next()) {
        let what = if let ListsError::Limit { .. } = error { "the lists hold " } else { "" };
        problems.add("policy-list", first.node.place, format!("{what}{error}"));
    }
}

/// Returns empty lists of the same names and kinds.
pub(crate) fn like(lists: &Lists) -> Lists {
    let fresh = Lists::new(Limits::default());
    for info in lists.load().infos() {
        // The running lists have this name.
        let _ = fresh.declare(&info.name, ListType::new(info.kind, info.values));
    }
    fresh
}

fn kind(list: &Node) -> Option<Kind> {
    Kind::from_name(&list.text_of("kind")?.text)
}

/// Reads the entries of a file, in the format of its extension.
fn read(kind: Kind, path: &SourceText, base: &Path, problems: &mut Problems) -> Option<Entries> {
    let file = base.join(&path.text);
    let bytes = read_file(&file, path, problems)?;
    let Ok(text) = String::from_utf8(bytes) else {
        problems.add("policy-file", path.place, format!("`{}` is not UTF-8", file.display()));
        return None;
    };
    match Entries::parse(kind, Format::of_path(&file), &text) {
        Ok(entries) => Some(entries),
        Err(wrong) => {
            report(&wrong, &file, path, problems);
            None
        }
    }
}

fn report(wrong: &WrongEntries, file: &Path, path: &SourceText, problems: &mut Problems) {
    let file = file.display();
    for entry in wrong.listed().iter().take(MOST_REPORTED) {
        problems.add("policy-list", path.place, format!("{file}: {entry}"));
    }
    let others = wrong.count().saturating_sub(MOST_REPORTED);
    if others > 0 {
        problems.add("policy-list", path.place, format!("{file}: and {others} more wrong entries"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_word() {
        assert_eq!(Kind::ALL.map(Kind::name), crate::policy_keys::LIST_KINDS);
    }
}
