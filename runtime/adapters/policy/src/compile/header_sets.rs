//! Sets of headers that rules remove: those of a rule, and those that `headerSets` names, which are built once.

use crate::file::document::Document;
use crate::problems::{MAX_COMPARED, Problems};
use crate::yaml::{MapEntry, Node, SourceText};
use celero::http::HeaderSet;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The section `headerSets`.
pub(crate) struct HeaderSets<'d> {
    nodes: BTreeMap<&'d str, &'d Node>,
    /// The sets that rules use. `None`: a set is wrong, which was reported.
    built: HashMap<&'d str, Option<Arc<HeaderSet>>>,
}

impl<'d> HeaderSets<'d> {
    pub(crate) fn new(document: &'d Document, problems: &mut Problems) -> Self {
        let entries = document.entries("headerSets", problems);
        let nodes = entries.into_iter().map(|MapEntry { key, value }| (&*key.text, value)).collect();
        Self { nodes, built: HashMap::new() }
    }

    /// Returns the set of a name.
    pub(crate) fn named(&mut self, name: &SourceText, problems: &mut Problems) -> Option<Arc<HeaderSet>> {
        let Some((known, node)) = self.nodes.get_key_value(&*name.text) else {
            let known: Vec<&str> = self.nodes.keys().copied().take(MAX_COMPARED).collect();
            let message = format!("`headerSets` has no set `{}`", name.text);
            problems.add("policy-header", name.place, message).suggest(&name.text, &known);
            return None;
        };
        let built = self.built.entry(known);
        built.or_insert_with(|| set_of(&node.texts_of("names"), &node.texts_of("prefixes"), problems)).clone()
    }
}

/// Returns the set of these names and prefixes. Reports each that is wrong.
pub(crate) fn set_of(names: &[SourceText], prefixes: &[SourceText], problems: &mut Problems) -> Option<Arc<HeaderSet>> {
    let mut fine = true;
    let name = |text: &SourceText| HeaderSet::new([&text.text], [""; 0]);
    let prefix = |text: &SourceText| HeaderSet::new([""; 0], [&text.text]);
    let all = names.iter().map(|text| (text, name(text))).chain(prefixes.iter().map(|text| (text, prefix(text))));
    for (text, set) in all {
        if let Err(error) = set {
            problems.add("policy-header", text.place, error.to_string());
            fine = false;
        }
    }
    let texts = |texts: &[SourceText]| texts.iter().map(|text| text.text.clone()).collect::<Vec<_>>();
    fine.then(|| HeaderSet::new(texts(names), texts(prefixes)).ok().map(Arc::new)).flatten()
}
