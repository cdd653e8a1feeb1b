//! The section `record` of a configuration.

use super::read::{Reader, bytes};
use super::record_keys::{HEADERS, PARAMETERS};
use celero_policy::schema::share;
use celero_policy::yaml::{Node, SourceText};
use http::HeaderName;
use std::path::PathBuf;

/// Which requests are recorded, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The file.
    pub file: PathBuf,
    /// The share of the requests that are recorded, above 0 and at most 1.
    pub share: f64,
    /// The size in bytes from which the file is begun anew.
    pub max_size: u64,
    /// The headers whose values are replaced, besides those of the policy's credentials.
    pub redact_headers: Vec<HeaderName>,
    /// The parameters of the query whose values are replaced, in lower case.
    pub redact_parameters: Vec<String>,
}

impl Reader<'_> {
    pub(super) fn record(&mut self, node: &Node) -> Option<Record> {
        let texts = |key: &str| -> Option<Vec<SourceText>> {
            Some(node.get(key)?.elements().iter().filter_map(Node::text).collect())
        };
        let mut redact_headers: Vec<HeaderName> = HEADERS.into_iter().map(HeaderName::from_static).collect();
        for text in texts("redactHeaders").unwrap_or_default() {
            match text.text.parse() {
                Ok(name) => redact_headers.push(name),
                Err(_) => {
                    let message = format!("`{}` is no name of a header", text.text);
                    self.error("config-header", &text, message, "write it as in a request: `x-session`");
                }
            }
        }
        let mut redact_parameters: Vec<String> = PARAMETERS.into_iter().map(str::to_owned).collect();
        let more = texts("redactParameters").unwrap_or_default();
        redact_parameters.extend(more.into_iter().map(|text| text.text.to_ascii_lowercase()));
        Some(Record {
            file: node.text_of("file").map(|text| self.path_of(&text))?,
            share: node.get("share").and_then(Node::plain).and_then(share).unwrap_or(1.0),
            max_size: bytes(node, "maxSize").and_then(|bytes| bytes.try_into().ok()).unwrap_or(100 << 20),
            redact_headers,
            redact_parameters,
        })
    }
}
