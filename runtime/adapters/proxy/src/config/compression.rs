//! The section `compression` of a configuration.

use super::read::{Reader, bytes, number};
use celero_pingora::Coding;
use celero_policy::yaml::{Node, SourceText};

/// Which responses are compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compression {
    /// Content types; `text/*` stands for several. `None`: the default of [`celero_pingora::Compression`].
    pub types: Option<Vec<String>>,
    /// The codings, the preferred one first. `None`: the default.
    pub codings: Option<Vec<Coding>>,
    /// The smallest body, in bytes.
    pub min_size: Option<u64>,
    /// From 1 to 9.
    pub level: Option<u32>,
    /// How many responses are compressed at a time.
    pub streams: Option<usize>,
}

impl Compression {
    /// Returns the settings for requests.
    pub(crate) fn settings(&self) -> celero_pingora::Compression {
        let usual = celero_pingora::Compression::default();
        let settings = self.types.iter().fold(usual, |settings, types| settings.with_types(types.iter().cloned()));
        let settings =
            self.codings.iter().fold(settings, |settings, codings| settings.with_codings(codings.iter().copied()));
        let settings = self.min_size.iter().fold(settings, |settings, bytes| settings.with_smallest(*bytes));
        let settings = self.level.iter().fold(settings, |settings, level| settings.with_level(*level));
        self.streams.iter().fold(settings, |settings, streams| settings.with_streams(*streams))
    }
}

impl Reader<'_> {
    pub(super) fn compression(&mut self, node: &Node) -> Compression {
        let texts: Vec<SourceText> = self.elements(node, "types").iter().filter_map(Node::text).collect();
        for text in texts.iter().filter(|text| !is_content_type(&text.text)) {
            let help = "write it without parameters: `text/html`, `text/*` or `application/*+json`";
            self.error("config-type", text, format!("`{}` is not a content type", text.text), help);
        }
        let types = node.get("types").map(|_| texts.into_iter().map(|text| text.text).collect());
        let codings = self.codings(node);
        let min_size = bytes(node, "minSize");
        Compression {
            types,
            codings,
            min_size: min_size.and_then(|bytes| bytes.try_into().ok()),
            level: number(node, "level"),
            streams: number(node, "streams"),
        }
    }

    fn codings(&mut self, node: &Node) -> Option<Vec<Coding>> {
        let mut found = Vec::new();
        let texts: Vec<SourceText> = self.elements(node, "codings").iter().filter_map(Node::text).collect();
        for text in &texts {
            let Some(coding) = Coding::of_name(&text.text) else { continue };
            if found.contains(&coding) {
                let help = "name each coding once, the preferred one first";
                self.error("config-duplicate", text, format!("`{}` is there twice", text.text), help);
            }
            found.push(coding);
        }
        node.get("codings").map(|_| found)
    }
}

/// Returns whether a text is a type and a subtype, in which one `*` may stand for several.
fn is_content_type(text: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"*+-._".contains(&byte))
    };
    text.split_once('/').is_some_and(|(name, subtype)| is_name(name) && is_name(subtype))
        && text.matches('*').count() <= 1
}
