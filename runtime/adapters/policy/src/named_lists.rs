//! The section `lists`: named lists that expressions ask as `value in lists.NAME` and `lists.NAME[key]`, with entries in the policy and in
//! files.

use crate::document::{Document, Section, read_file};
use crate::problems::Problems;
use crate::yaml::{MapEntry, Node, SourceText};
use celero::lists::{
    Entries, EntryValue, Kind, Limits, ListType, Lists, ListsError, Scalar, ScalarType, ValueType, WrongEntries,
};
use celero_lists::Format;
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
        let Some(ty) = list_type(&entry.value, problems) else { continue };
        if let Err(error) = lists.declare(&entry.key.text, ty) {
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
            // Other names and types were reported.
            let snapshot = lists.load();
            let Some(ty) = snapshot.find(&key.text).and_then(|(id, _)| snapshot.list_type(id)) else { continue };
            let mut all = Entries::new(&ty);
            for entry in value.get("entries").map_or(&[][..], Node::elements) {
                add(&mut all, entry, problems);
            }
            for path in value.texts_of("files") {
                if let Some(entries) = read(&ty, &path, section.base, problems) {
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

/// The type of a list; `None` if its kind or the type of its values was reported, here or as a value of another form.
fn list_type(list: &Node, problems: &mut Problems) -> Option<ListType> {
    let kind = Kind::from_name(&list.text_of("kind")?.text)?;
    let Some(node) = list.get("values") else { return Some(kind.into()) };
    if let Some(text) = node.text() {
        return ScalarType::from_name(&text.text).map(|ty| ListType::new(kind, Some(ValueType::of_scalar(ty))));
    }
    let field = |entry: &MapEntry| Some((entry.key.text.clone(), ScalarType::from_name(&entry.value.text()?.text)?));
    let fields = node.entries().iter().map(field).collect::<Option<Vec<_>>>()?;
    match ValueType::of_fields(fields) {
        Ok(values) => Some(ListType::new(kind, Some(values))),
        Err(reason) => {
            problems.add("policy-list", node.place, reason);
            None
        }
    }
}

/// Adds an entry of the policy: a text, or a mapping with the entry and its value.
fn add(entries: &mut Entries, node: &Node, problems: &mut Problems) {
    if let Some(text) = node.text() {
        return insert(entries, &text, EntryValue::default(), problems);
    }
    let Some(text) = node.text_of("entry") else {
        problems.add("policy-list", node.place, "an entry with a value has the key `entry`".to_owned());
        return;
    };
    let before = problems.count();
    let ty = entries.list_type().clone();
    let mut fields = Vec::new();
    for MapEntry { key, value } in
        node.entries().iter().filter(|own| own.key.text != "entry" && !own.value.is_nothing())
    {
        let wrong = match (ty.values().map(|values| values.field(&key.text)), value.text()) {
            (None, _) => "the entries of this list carry no values: `values` declares them".to_owned(),
            (Some(None), _) => {
                let names = ty.values().map(ValueType::field_names).unwrap_or_default();
                format!("there is no field `{}`; there are {names}", key.text)
            }
            (Some(Some((_, scalar))), Some(text)) => match Scalar::parse(scalar, &text.text) {
                Ok(scalar) => {
                    fields.push((key.text.clone(), scalar));
                    continue;
                }
                Err(reason) => format!("`{}`: {reason}", text.text),
            },
            (Some(Some((_, scalar))), None) => format!("`{}` is no {}", value.kind(), scalar.name()),
        };
        problems.add("policy-list", key.place, wrong);
    }
    if problems.count() == before {
        let value = if fields.is_empty() { EntryValue::default() } else { fields.into_iter().collect() };
        insert(entries, &text, value, problems);
    }
}

fn insert(entries: &mut Entries, text: &SourceText, value: EntryValue, problems: &mut Problems) {
    if let Err(wrong) = entries.insert(&text.text, value) {
        let reason = wrong.listed().first().map_or("", |entry| &entry.reason);
        let message = format!("`{}` is no entry of a list of {}: {reason}", text.text, entries.list_type());
        problems.add("policy-list", text.place, message);
    }
}

/// Reads the entries of a file, in the format of its extension.
fn read(ty: &ListType, path: &SourceText, base: &Path, problems: &mut Problems) -> Option<Entries> {
    let file = base.join(&path.text);
    let bytes = read_file(&file, path, problems)?;
    let Ok(text) = String::from_utf8(bytes) else {
        problems.add("policy-file", path.place, format!("`{}` is not UTF-8", file.display()));
        return None;
    };
    match Entries::parse(ty, Format::of_path(&file), &text) {
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
        assert_eq!(ScalarType::ALL.map(ScalarType::name), crate::policy_keys::LIST_VALUES);
    }
}
