//! A policy whose log entries have every attribute that rules can read, in every phase of a request.

use super::random_request::{NAMES, PASSWORD, SECRET};
use crate::running::Folder;
use celero_policy::{Language, Outline, Phase, Policy};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;
use std::path::Path;

/// The fields that the proxy gives a request before rules read it. A server gets none of them here,
/// so that it gets the same from the tower layer.
pub(crate) const OF_PROXY: &[&str] =
    &["x-forwarded-for", "x-forwarded-host", "x-forwarded-port", "x-forwarded-proto", "x-real-ip", "x-request-id"];

/// Attributes that this policy can't read: a phase has either the whole body or a prefix of it, and messages are those
/// of a method, which is called over HTTP/2 only.
const NEVER: [&str; 4] = ["request.bodyPrefix", "response.bodyPrefix", "request.message", "response.message"];

/// The phases whose data have all that the filter language has fields for: heads and bodies; responses; times.
const OF_FILTER: [Phase; 3] = [Phase::RequestBody, Phase::Response, Phase::Log];

/// Elements of an array that are read.
const ELEMENTS: usize = 4;

pub(super) struct Probes {
    /// The text of the policy.
    pub(super) policy: String,
    /// The names of the log fields of CEL.
    cel: BTreeSet<String>,
}

impl Probes {
    pub(super) fn new() -> Self {
        let outline = Outline::of("policy.yaml", "{request: []}", Path::new(".")).unwrap();
        let (mut policy, mut cel) = (sections(), BTreeSet::new());
        for phase in Phase::ALL.into_iter().filter(|phase| *phase != Phase::Connection) {
            let mut rules = Vec::new();
            let mut fields = Map::new();
            for variable in outline
                .declarations(Some(phase))
                .variables()
                .iter()
                .filter(|variable| !NEVER.contains(&&*variable.name))
            {
                let name = format!("{}|cel|{}", phase.name(), variable.name);
                if variable.ty.to_string().starts_with("map(string, string") {
                    // The lines of one name, not only their joined text.
                    fields.insert(format!("{name}.raw()"), format!("${{{}.raw()}}", variable.name).into());
                }
                fields.insert(name.clone(), format!("${{{}}}", variable.name).into());
                cel.insert(name);
            }
            rules.push(json!({ "logFields": fields }));
            if OF_FILTER.contains(&phase) {
                let mut fields = Map::new();
                let missing = missing(&outline, phase);
                for (name, ty) in filter_fields(&outline, phase).into_iter().filter(|(name, _)| !missing.contains(name))
                {
                    for read in reads(&name, &ty) {
                        fields.insert(format!("{}|filter|{read}", phase.name()), format!("${{{read}}}").into());
                    }
                }
                rules.push(json!({ "language": "filter", "logFields": fields }));
            }
            if phase == Phase::Request {
                rules.push(json!({ "removeHeaders": OF_PROXY }));
            }
            policy.insert(phase.name().to_owned(), Json::Array(rules));
        }
        Self { policy: Json::Object(policy).to_string(), cel }
    }

    /// The attributes of CEL that are not among those that were read.
    pub(super) fn never_read(&self, read: &BTreeSet<String>) -> Vec<&String> {
        self.cel.iter().filter(|name| !read.contains(*name)).collect()
    }
}

/// How credentials are verified.
fn sections() -> Map<String, Json> {
    // The digest of `foo`.
    let digest = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";
    let sections = json!({
        "jwt": { "keys": [{ "secret": "secret", "algorithm": "HS256" }] },
        "apiKey": { "keys": [{ "name": "ci", "sha256": digest }] },
        "basicAuth": { "users": "users" },
        "clientCert": {},
    });
    match sections {
        Json::Object(sections) => sections,
        _ => Map::new(),
    }
}

/// Writes the files that the policy names.
pub(super) fn write_credentials(folder: &Folder) {
    folder.write("secret", SECRET);
    folder.write("users", &format!("ada:{}\n", bcrypt::hash(PASSWORD, 4).unwrap()));
}

/// The fields of the filter language, with their types.
fn filter_fields(outline: &Outline, phase: Phase) -> Vec<(String, String)> {
    let scheme = outline.scheme(phase, Language::filter()).unwrap();
    let fields = scheme.fields().iter().filter(|field| !NEVER.contains(&&*field.name));
    fields.map(|field| (field.name.to_string(), field.ty.to_string())).collect()
}

/// The fields of the filter language that no host gives a value: a warning says so.
fn missing(outline: &Outline, phase: Phase) -> BTreeSet<String> {
    let read = |name: &str, ty: &str| format!("${{{}}}", reads(name, ty)[0]);
    let fields: Map<_, _> =
        filter_fields(outline, phase).into_iter().map(|(name, ty)| (name.clone(), read(&name, &ty).into())).collect();
    let text = json!({ phase.name(): [{ "language": "filter", "logFields": fields }] }).to_string();
    let policy = Policy::check("policy.yaml", &text, Path::new(".")).unwrap_or_else(|error| panic!("{error}"));
    let of_missing = policy.warnings().filter(|(_, warning)| warning.code == "filter-field-missing");
    of_missing.filter_map(|(_, warning)| Some(warning.message.split('`').nth(1)?.to_owned())).collect()
}

/// The expressions of the filter language that read a field of this type: text, numbers and addresses only.
fn reads(name: &str, ty: &str) -> Vec<String> {
    let inner = |kind: &str| ty.strip_prefix(kind)?.strip_prefix('<')?.strip_suffix('>');
    if let Some(element) = inner("Array") {
        return (0..ELEMENTS).flat_map(|index| reads(&format!("{name}[{index}]"), element)).collect();
    }
    if let Some(value) = inner("Map") {
        return NAMES.iter().flat_map(|key| reads(&format!("{name}[\"{key}\"]"), value)).collect();
    }
    assert!(["Bytes", "Int", "Bool", "Ip"].contains(&ty), "no probe for a field of type {ty}");
    vec![name.to_owned()]
}
