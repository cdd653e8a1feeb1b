//! The section `lists`: named lists that expressions ask as `value in lists.NAME` and
//! `lists.NAME[key]`, with entries in the policy, in files and at URLs.

use crate::file::document::{Document, Section, is_folder_below, is_named_below, read_unwatched};
use crate::file::emptiness;
use crate::lists::entry_format::EntryFormat;
use crate::lists::fetch_url::{check_url, without_query};
use crate::lists::source::{ListDocument, ListSource, ListSourceSettings};
use crate::problems::{FileSpan, Problems};
use crate::schema::{duration, size};
use crate::yaml::reach::Use;
use crate::yaml::{MapEntry, Node, SourceText};
use celero::lists::{Entries, EntryValue, Kind, Limits, ListType, Lists, ListsError, Scalar, ScalarType, ValueType};
use celero_lists::{FilePattern, Format, RecordPaths};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The time between two fetches of a URL.
const REFRESH: Duration = Duration::from_secs(3_600);
/// The shortest time between two fetches.
const LEAST_REFRESH: Duration = Duration::from_secs(1);
/// The longest time of a fetch.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The largest document at a URL, in bytes.
const LARGEST_DOCUMENT: usize = 64 << 20;

/// Returns the lists of a policy: those that follow the host's, and its own without their entries, which [`fill`] adds.
/// `None` if there are none. Reports names that are not valid, and lists that two files have, or the host.
pub(crate) fn declare(document: &Document, of_host: Option<&Lists>, problems: &mut Problems) -> Option<Lists> {
    let entries = document.entries("lists", problems);
    let lists = match of_host {
        Some(of_host) => Lists::following(of_host, Limits::default()),
        None if entries.is_empty() => return None,
        None => Lists::new(Limits::default()),
    };
    for entry in entries {
        if lists.is_followed(&entry.key.text) {
            let message = format!("the host has a list `{}`", entry.key.text);
            problems.add("policy-list", entry.key.place, message).help("give this one another name");
        } else {
            declare_one(&lists, entry, problems);
        }
    }
    Some(lists)
}

/// Returns the lists of a host that this section declares, with the entries that cases find in them.
pub(crate) fn of_declarations(section: &Node, problems: &mut Problems) -> Lists {
    let lists = Lists::new(Limits::default());
    for list in section.entries() {
        let Some(ty) = declare_one(&lists, list, problems) else { continue };
        let mut entries = Entries::new(&ty);
        for entry in list.value.get("entries").map_or(&[][..], Node::elements) {
            add(&mut entries, entry, problems);
        }
        if let Err(error) = lists.change().replace(&list.key.text, entries).commit() {
            problems.add("policy-list", list.key.place, error.to_string());
        }
    }
    lists
}

/// Adds a list without entries, and returns its type; `None` if something was reported.
fn declare_one(lists: &Lists, list: &MapEntry, problems: &mut Problems) -> Option<ListType> {
    let ty = list_type(&list.value, problems)?;
    match lists.declare(&list.key.text, ty.clone()) {
        Ok(_) => Some(ty),
        Err(error) => {
            problems.add("policy-list", list.key.place, error.to_string());
            None
        }
    }
}

/// The sections `lists` of a policy, each with the folder that relative paths in it start from, and
/// the sources at URLs.
#[derive(Debug)]
pub(crate) struct ListSections {
    sections: Vec<(Node, PathBuf, Option<PathBuf>)>,
    pub(crate) sources: Vec<Arc<ListSource>>,
}

impl ListSections {
    pub(crate) fn of(document: &Document, problems: &mut Problems) -> Self {
        let sections = document.all("lists");
        let sections: Vec<_> = sections
            .map(|section| (section.node.clone(), section.base.to_owned(), section.folder.map(Path::to_owned)))
            .collect();
        let mut sources = Vec::new();
        for MapEntry { key, value } in sections.iter().flat_map(|(node, ..)| node.entries()) {
            // Other types were reported.
            if let Some(ty) = list_type(value, &mut Problems::default()) {
                add_sources(&mut sources, &key.text, &ty, value, problems);
            }
        }
        Self { sections, sources }
    }

    /// Where the first list is named: for what is wrong with all of them.
    pub(crate) fn place(&self) -> Option<FileSpan> {
        self.all().find_map(|section| Some(section.node.entries().first()?.key.place))
    }

    fn all(&self) -> impl Iterator<Item = Section<'_>> {
        self.sections.iter().map(|(node, base, folder)| Section { node, base, folder: folder.as_deref() })
    }

    fn lists(&self) -> impl Iterator<Item = &MapEntry> {
        self.sections.iter().flat_map(|(node, ..)| node.entries())
    }

    /// Returns the names and places of the lists that don't say where their entries are, and not
    /// that they may be empty.
    pub(crate) fn unnamed_entries(&self) -> impl Iterator<Item = (String, FileSpan)> {
        let unnamed = |list: &&MapEntry| !emptiness::names_entries(&list.value) && !emptiness::is_allowed(&list.value);
        self.lists().filter(unnamed).map(|list| (list.key.text.clone(), list.key.place))
    }

    /// Returns whether the list of this name says where its entries are.
    pub(crate) fn names_entries(&self, name: &str) -> bool {
        self.lists().any(|list| list.key.text == name && emptiness::names_entries(&list.value))
    }

    /// Returns the names of the lists that have files, with these, or the patterns that stand for them.
    pub(crate) fn files(&self) -> impl Iterator<Item = (String, Vec<PathBuf>)> {
        let lists =
            self.all().flat_map(|section| section.node.entries().iter().map(move |entry| (entry, section.base)));
        let with_files = lists.map(|(MapEntry { key, value }, base)| {
            (key.text.clone(), value.texts_of("files").iter().map(|path| base.join(&path.text)).collect())
        });
        with_files.filter(|(_, files): &(String, Vec<PathBuf>)| !files.is_empty())
    }
}

/// Adds the entries of these lists in one change, and leaves out those that have expired. Reports
/// every wrong entry, and every source without entries of a list that may not be empty. Of a source
/// at a URL counts the document that is `offered`, or else the last one that was accepted.
pub(crate) fn fill(
    lists: &Lists,
    sections: &ListSections,
    offered: Option<(&ListSource, &ListDocument)>,
    problems: &mut Problems,
) {
    let before = problems.count();
    let mut change = lists.change();
    for section in sections.all() {
        for list in section.node.entries() {
            let snapshot = lists.load();
            if lists.is_followed(&list.key.text) {
                continue;
            }
            // Other names and types were reported, or are not asked for.
            let Some(ty) = snapshot.find(&list.key.text).and_then(|(id, _)| snapshot.list_type(id)) else { continue };
            let entries = read_list(section, list, &ty, &sections.sources, offered, problems);
            change = change.replace(&list.key.text, entries);
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

/// Reads the entries of one list.
fn read_list(
    section: Section<'_>,
    list: &MapEntry,
    ty: &ListType,
    sources: &[Arc<ListSource>],
    offered: Option<(&ListSource, &ListDocument)>,
    problems: &mut Problems,
) -> Entries {
    let MapEntry { key, value } = list;
    let before = problems.count();
    let mut all = Added { list, entries: Entries::new(ty) };
    if let Some(entries) = value.get("entries") {
        if entries.elements().is_empty() && !emptiness::is_allowed(value) {
            emptiness::report_source(&key.text, &"`entries`", key.place, problems);
        }
        for entry in entries.elements() {
            add(&mut all.entries, entry, problems);
        }
    }
    for path in value.texts_of("files") {
        let file = section.base.join(&path.text);
        if section.folder.is_some() && !is_named_below(&path, problems) {
            continue;
        }
        if !problems.may_use(Use::List, file.as_os_str(), section.folder, &path) {
            continue;
        }
        problems.watch(&file);
        // The names in a folder are told if one of its files is wrong.
        let pattern = FilePattern::of_path(&file);
        if let (Some(_), Some(of_level), Some(folder)) = (pattern, section.folder, file.parent())
            && !is_folder_below(folder, of_level, &path, problems)
        {
            continue;
        }
        let paths = || record_paths(value, ty, path.place, problems);
        let Some(format) = EntryFormat::new(None, &file, paths) else { continue };
        for file in files(file, &path, problems) {
            let largest = format.largest_file();
            let Some(bytes) = read_unwatched(&file, section.folder, largest, &path, problems) else { continue };
            all.append(&format, &bytes, &file.display(), path.place, problems);
        }
    }
    let mut is_complete = true;
    for source in sources.iter().filter(|source| source.list() == key.text) {
        let own = offered.filter(|(offered, _)| std::ptr::eq(*offered, &**source));
        let kept = source.document();
        match own.map(|(_, document)| document).or(kept.as_deref()) {
            Some(document) => {
                all.append(source.format(), &document.bytes, &source.shown_url(), source.place, problems);
            }
            None => is_complete = false,
        }
    }
    let is_empty = is_complete && all.entries.is_empty() && problems.count() == before;
    if is_empty && emptiness::names_entries(value) && !emptiness::is_allowed(value) {
        emptiness::report_list(&key.text, key.place, problems);
    }
    all.entries
}

/// The entries of a list that were read so far.
struct Added<'n> {
    list: &'n MapEntry,
    entries: Entries,
}

impl Added<'_> {
    /// Adds the entries of a file or document. Reports what is wrong with them.
    fn append(
        &mut self,
        format: &EntryFormat,
        bytes: &[u8],
        name: &dyn Display,
        place: FileSpan,
        problems: &mut Problems,
    ) {
        match format.parse(self.entries.list_type(), bytes) {
            Ok(entries) if entries.is_empty() && !emptiness::is_allowed(&self.list.value) => {
                emptiness::report_source(&self.list.key.text, name, place, problems);
            }
            Ok(entries) => self.entries.append(entries),
            Err(wrong) => {
                let mut help = Some(format!("it is read as {}", format.description()));
                for sentence in wrong {
                    let problem = problems.add("policy-list", place, format!("{name}: {sentence}"));
                    if let Some(help) = help.take() {
                        problem.help(help);
                    }
                }
            }
        }
    }
}

/// Returns empty lists of the same names and kinds, of those of the policy that are `wanted`.
pub(crate) fn like(lists: &Lists, wanted: impl Fn(&str) -> bool) -> Lists {
    let fresh = Lists::new(Limits::default());
    for info in lists.load().infos().filter(|info| wanted(&info.name) && !lists.is_followed(&info.name)) {
        // The running lists have this name.
        let _ = fresh.declare(&info.name, ListType::new(info.kind, info.values));
    }
    fresh
}

/// Adds the sources of the key `urls` of a list. Reports wrong URLs and formats.
fn add_sources(sources: &mut Vec<Arc<ListSource>>, list: &str, ty: &ListType, node: &Node, problems: &mut Problems) {
    for entry in node.get("urls").map_or(&[][..], Node::elements) {
        let Some(url) = entry.text().or_else(|| entry.text_of("url")) else { continue };
        if let Err(why) = check_url(&url.text) {
            problems.add("policy-value", url.place, format!("`{}` {why}", url.text));
            continue;
        }
        let own = sources.iter().filter(|source| source.list() == list);
        if let Some(same) = own.clone().find(|source| source.url() == url.text) {
            let problem = problems.add("policy-list", url.place, format!("the list `{list}` has this URL twice"));
            problem.also(same.place, "here too");
            continue;
        }
        let number = own.count().saturating_add(1);
        let named = entry.text_of("format");
        let paths = || record_paths(node, ty, url.place, problems);
        let named = named.as_ref().map(|text| &*text.text);
        // The extension of the path says how entries are written.
        let path = Path::new(without_query(&url.text));
        let Some(format) = EntryFormat::new(named, path, paths) else { continue };
        if ty.values().is_some() && format == EntryFormat::Text(Format::Lines) {
            let message = format!("`{}` is read as lines, which have no values", url.text);
            let problem = problems.add("policy-list", url.place, message);
            problem.help("name the format: `csv`, `jsonl` or `mmdb`".to_owned());
        }
        let time = |key| entry.text_of(key).and_then(|text| duration(&text.text));
        let settings = ListSourceSettings {
            list: list.to_owned(),
            ty: ty.clone(),
            url: url.text,
            format,
            refresh: time("refresh").unwrap_or(REFRESH).max(LEAST_REFRESH),
            timeout: time("timeout").unwrap_or(TIMEOUT),
            largest: entry.text_of("largest").and_then(|text| size(&text.text)).unwrap_or(LARGEST_DOCUMENT),
            may_be_empty: emptiness::is_allowed(node),
        };
        sources.push(Arc::new(ListSource::new(settings, url.place, number)));
    }
}

/// Where the records of MaxMind databases have the fields of a list. Reports at `at` that it can
/// have none, and wrong paths.
fn record_paths(list: &Node, ty: &ListType, at: FileSpan, problems: &mut Problems) -> Option<RecordPaths> {
    let section = list.get("mmdb");
    let texts: Vec<_> = section
        .map_or(&[][..], Node::entries)
        .iter()
        .filter_map(|entry| Some((&*entry.key.text, entry.value.text()?.text)))
        .collect();
    match RecordPaths::new(ty, texts.iter().map(|(name, path)| (*name, &**path))) {
        Ok(paths) => Some(paths),
        Err(why) => {
            problems.add("policy-list", section.map_or(at, |section| section.place), why);
            None
        }
    }
}

/// Returns a file, or those that a pattern stands for now.
fn files(path: PathBuf, at: &SourceText, problems: &mut Problems) -> Vec<PathBuf> {
    let Some(pattern) = FilePattern::of_path(&path) else {
        if path.as_os_str().as_encoded_bytes().contains(&b'*') && !path.exists() {
            let message = format!("`{}` is no pattern of files", at.text);
            let problem = problems.add("policy-file", at.place, message);
            problem.help("a star stands for all names with an extension, as in `blocked.d/*.txt`".to_owned());
            return Vec::new();
        }
        return vec![path];
    };
    pattern.files().unwrap_or_else(|error| {
        problems.add("policy-file", at.place, format!("{} can't be read: {error}", path.display()));
        Vec::new()
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_word() {
        assert_eq!(Kind::ALL.map(Kind::name), crate::keys::lists::LIST_KINDS);
        assert_eq!(ScalarType::ALL.map(ScalarType::name), crate::keys::lists::LIST_VALUES);
    }
}
