//! What the command line declares for rules in the filter language, besides variables.

use crate::input::filter_values::FilterLists;
use crate::input::list_file::{is_database, read_database};
use crate::input::source::read_bytes;
use celero::Env;
use celero::filter::FilterLanguage;
use celero_lists::{Entries, Limits, ListType, Lists, RecordPaths};
use std::path::PathBuf;
use std::time::SystemTime;

/// The arguments about the filter language.
#[derive(clap::Args)]
pub(crate) struct FilterArgs {
    /// Gives a field of the filter language a value, that of a CEL expression:
    /// `cf.threat_score = 0`. Where the expression fails, the field is missing. May be repeated.
    #[arg(long, value_name = "NAME = CEL", allow_hyphen_values = true, help_heading = HEADING)]
    pub(crate) field: Vec<String>,
    /// Named lists (`ip.src in $office`, in CEL `source.address in lists.office`): a JSON object,
    /// `{"office": {"Ip": ["10.0.0.0/8"]}}`.
    #[arg(long, value_name = "FILE.json", help_heading = LISTS)]
    pub(crate) lists: Option<PathBuf>,
    /// A named list from a file of its entries: lines, `.csv`, `.jsonl`, or a MaxMind database
    /// (`.mmdb`). KIND is `addresses`, `texts`, `textsIgnoringCase`, `hosts`, `integers`,
    /// `patterns` or `wildcards`. VALUES is what entries carry: `string`, `int`, `bool` or fields
    /// of these types, `{country: string, asn: int}`. May be repeated.
    #[arg(long, value_name = "NAME:KIND[:VALUES]=FILE", help_heading = LISTS)]
    pub(crate) list: Vec<String>,
    /// Where the records of the MaxMind database of a list have a field: names, and numbers of
    /// elements from 0, with dots between them, as `geo.country=country.iso_code`. Without it, a
    /// field is found under its own name; the only value of an entry is the field `value`. May be
    /// repeated.
    #[arg(long, value_name = "NAME.FIELD=PATH", help_heading = LISTS)]
    pub(crate) list_path: Vec<String>,
    /// Accepts lists that are not given in rules of the filter language: they contain nothing.
    /// Without it, they are errors.
    #[arg(long, help_heading = LISTS)]
    pub(crate) any_list: bool,
    /// In the filter language, `ne` is true for a missing value. Without it, all comparisons with one are false.
    #[arg(long, help_heading = HEADING)]
    pub(crate) nil_not_equal: bool,
}

const LISTS: &str = "Named lists";
const HEADING: &str = "Cloudflare's filter language";

/// What the filter language has besides the variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilterDeclarations {
    /// Names and CEL expressions.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) lists: FilterLists,
    pub(crate) list_files: Vec<ListFile>,
    pub(crate) any_list: bool,
    pub(crate) nil_not_equal: bool,
}

/// A list from a file of entries.
#[derive(Clone, Debug)]
pub(crate) struct ListFile {
    name: String,
    ty: ListType,
    path: PathBuf,
    /// Where records have the fields, if the file is a MaxMind database.
    records: Option<RecordPaths>,
}

impl FilterArgs {
    /// Reads the declarations.
    ///
    /// # Errors
    /// The option that is not valid, or the file that can't be read.
    pub(crate) fn read(&self) -> Result<FilterDeclarations, String> {
        let field = |text: &String| {
            let parts = text.split_once('=').map(|(name, cel)| (name.trim().to_owned(), cel.trim().to_owned()));
            parts.ok_or_else(|| format!("--field: `{text}`: expected `NAME = CEL`"))
        };
        let mut lists = FilterLists::default();
        if let Some(path) = &self.lists {
            let shown = path.display();
            let json = serde_json::from_slice(&read_bytes(path)?).map_err(|error| format!("{shown}: {error}"))?;
            lists = FilterLists::read(&json).map_err(|why| format!("{shown}: {why}"))?;
        }
        let fields = self.field.iter().map(field).collect::<Result<_, _>>()?;
        let list_files = list_files(&self.list, &self.list_path)?;
        let (any_list, nil_not_equal) = (self.any_list, self.nil_not_equal);
        Ok(FilterDeclarations { fields, lists, list_files, any_list, nil_not_equal })
    }
}

impl FilterDeclarations {
    /// Returns whether nothing is declared.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Returns the environment with the lists, if there are any: those of the host, and those of files, which take
    /// the place of the host's of the same name.
    ///
    /// # Errors
    /// The list that can't be made, or the file and its wrong entries.
    pub(crate) fn add_lists<C>(&self, env: Env<C>, of_host: Option<&Lists>) -> Result<Env<C>, String> {
        if of_host.is_none() && self.lists.is_empty() && self.list_files.is_empty() {
            return Ok(env);
        }
        let lists = of_host.cloned().unwrap_or_else(|| Lists::new(Limits::default()));
        self.lists.add_to(&lists)?;
        for ListFile { name, ty, path, records } in &self.list_files {
            lists.declare(name, ty).map_err(|error| format!("--list: {error}"))?;
            let entries = match records {
                Some(records) => read_database(ty, records, path)?,
                None => Entries::read(ty, path).map_err(|error| error.to_string()),
            };
            let entries = entries.map_err(|error| format!("{}: {error}", path.display()))?;
            lists.change().replace(name, entries).commit().map_err(|error| format!("{}: {error}", path.display()))?;
        }
        lists.expire(SystemTime::now()).map_err(|error| format!("--list: {error}"))?;
        Ok(env.lists(&lists))
    }

    /// Adds the declarations to the language.
    pub(crate) fn declare(&self, language: FilterLanguage) -> FilterLanguage {
        let language = language.nil_not_equal(self.nil_not_equal).any_list(self.any_list);
        self.fields.iter().fold(language, |language, (name, cel)| language.field(name, cel))
    }
}

/// Reads the options `--list` and `--list-path`.
fn list_files(files: &[String], paths: &[String]) -> Result<Vec<ListFile>, String> {
    let paths = paths.iter().map(|text| list_path(text)).collect::<Result<Vec<_>, _>>()?;
    let mut found = Vec::with_capacity(files.len());
    for text in files {
        let (name, ty, path) = list_file(text)?;
        let own = paths.iter().filter(|(list, ..)| *list == name).map(|(_, field, path)| (*field, *path));
        let records = if is_database(&path) {
            let records = RecordPaths::new(&ty, own);
            Some(records.map_err(|error| format!("--list: `{name}`: {error}"))?)
        } else if own.count() > 0 {
            let file = path.display();
            return Err(format!(
                "--list-path: `{name}`: {file} is no MaxMind database: its name does not end in `.mmdb`"
            ));
        } else {
            None
        };
        found.push(ListFile { name, ty, path, records });
    }
    if let Some((list, ..)) = paths.iter().find(|(list, ..)| !found.iter().any(|file| file.name == *list)) {
        return Err(format!("--list-path: there is no list `{list}`: give it with `--list`"));
    }
    Ok(found)
}

/// Reads `NAME.FIELD=PATH`. A name may have dots.
fn list_path(text: &str) -> Result<(&str, &str, &str), String> {
    let parts = text.split_once('=').and_then(|(head, path)| {
        let (list, field) = head.rsplit_once('.')?;
        Some((list.trim(), field.trim(), path.trim()))
    });
    let wrong = || format!("--list-path: `{text}`: expected `NAME.FIELD=PATH`, such as `geo.country=country.iso_code`");
    parts.ok_or_else(wrong)
}

/// Reads `NAME:KIND[:VALUES]=FILE`.
fn list_file(text: &str) -> Result<(String, ListType, PathBuf), String> {
    let wrong =
        || format!("--list: `{text}`: expected `NAME:KIND[:VALUES]=FILE`, such as `blocked:addresses=blocked.txt`");
    let (head, file) = text.split_once('=').ok_or_else(wrong)?;
    let (name, ty) = head.split_once(':').ok_or_else(wrong)?;
    let ty = ty.parse().map_err(|error| format!("--list: {error}"))?;
    Ok((name.trim().to_owned(), ty, PathBuf::from(file.trim())))
}
