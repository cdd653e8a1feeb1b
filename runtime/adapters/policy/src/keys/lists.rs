//! The keys of named lists.

use crate::schema::ValueSpec::{Any, Duration, List, Map, Mapping, OneOf, Size, Text, Word};
use crate::schema::{KeySpec, MappingSpec};

/// The kinds of named lists.
pub(crate) const LIST_KINDS: &[&str] =
    &["addresses", "texts", "textsIgnoringCase", "hosts", "integers", "patterns", "wildcards"];
pub(crate) const LIST_VALUES: &[&str] = &["string", "int", "bool"];
const LIST_FORMATS: &[&str] = &["lines", "csv", "jsonl", "mmdb"];

/// The word by which a file or a list says that it may be empty.
pub(crate) const EMPTY: &[&str] = &["allowed"];

// A file of a host's declarations has these keys too.
pub(crate) const LIST_KIND: KeySpec = KeySpec::required(
    "kind",
    Word(LIST_KINDS),
    "What the entries are: `addresses` (addresses, networks and ranges of them), `texts`, `textsIgnoringCase`, `hosts` (`www.example.com`, and `*.example.com` for all names below), `integers` (numbers and ranges `8000..8999`), `patterns` (regular expressions, searched for in a text), or `wildcards` (`/admin/*`, compared with the whole text).",
);
pub(crate) const LIST_VALUE_TYPES: KeySpec = KeySpec::optional(
    "values",
    OneOf(&[Word(LIST_VALUES), Map(&Word(LIST_VALUES))]),
    "What each entry carries, which expressions read as `lists.NAME[key]`: `string`, `int` or `bool`; or fields of these types, `{country: string, asn: int}`, read as `lists.NAME[key].country`.",
);
pub(crate) const LIST_ENTRIES: KeySpec = KeySpec::optional(
    "entries",
    List(&OneOf(&[Text, Map(&Any)])),
    "The entries. With values, mappings: `{entry: 192.0.2.0/24, country: DE}`, or `{entry: .., value: ..}`.",
);

pub(crate) static NAMED_LIST: MappingSpec = MappingSpec::new(
    "a list",
    &[
        LIST_KIND,
        LIST_VALUE_TYPES,
        LIST_ENTRIES,
        KeySpec::optional(
            "files",
            List(&Text),
            "Files with further entries: lines with comments after `#`, `.csv` with a column `entry`, or `.jsonl`. With values, `.csv` and `.jsonl` with a column for each field, or `value`, and `.mmdb`. `blocked.d/*.txt` stands for all files of a folder with this extension. Paths are relative to this file.",
        ),
        KeySpec::optional(
            "empty",
            Word(EMPTY),
            "`allowed`: files, documents at URLs and `entries` of the list may have no entries. Default: that is refused, because a file may have been cut to nothing.",
        ),
        KeySpec::optional(
            "urls",
            List(&OneOf(&[Text, Mapping(&LIST_URL)])),
            "URLs of documents with further entries, which the host fetches: `https://`, or `http://` and an address of this machine.",
        ),
        KeySpec::optional(
            "mmdb",
            Map(&Text),
            "Where records of MaxMind databases have the fields: `{country: country.iso_code}`. Default: a field under its own name.",
        ),
    ],
);

static LIST_URL: MappingSpec = MappingSpec::new(
    "a URL of a list",
    &[
        KeySpec::required("url", Text, "The URL."),
        KeySpec::optional(
            "format",
            Word(LIST_FORMATS),
            "How entries are written. Default: as the extension of the URL's path says, as in `files`; `lines` if it has another one.",
        ),
        KeySpec::optional(
            "refresh",
            Duration,
            "The time between two fetches, up to a tenth shorter or longer; at least 1s. Default: 1h.",
        ),
        KeySpec::optional("timeout", Duration, "The longest time of a fetch. Default: 30s."),
        KeySpec::optional("largest", Size, "The largest document. Default: 64MiB."),
    ],
);
