//! Where a cursor is in a policy: the keys around it. Works by lines and indentation, because the
//! YAML need not be valid while somebody types.

use celero_policy::Policy;
use celero_policy::schema::{KeySpec, MappingSpec, ValueSpec};

/// The place of a cursor in YAML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct YamlPath {
    /// The keys around the cursor, the outermost first, without the one on its line.
    pub(crate) parents: Vec<String>,
    /// The key whose value the cursor is in.
    pub(crate) key: Option<String>,
    /// What stands before the cursor: of the value or, without a key, of the key.
    pub(crate) before: String,
}

/// A line of YAML.
struct Line<'t> {
    /// The columns before its content, dashes of lists included.
    indent: usize,
    content: &'t str,
}

impl<'t> Line<'t> {
    fn new(line: &'t str) -> Self {
        let mut content = line.trim_start_matches(' ');
        while let Some(rest) = content.strip_prefix("- ") {
            content = rest.trim_start_matches(' ');
        }
        if content == "-" {
            content = "";
        }
        Self { indent: line.len().saturating_sub(content.len()), content }
    }

    fn is_nothing(&self) -> bool {
        self.content.trim().is_empty() || self.content.starts_with('#')
    }

    /// Returns the key and what follows its colon.
    fn entry(&self) -> Option<(&'t str, &'t str)> {
        // The key of a function has colons between its parentheses.
        let open = self.content.find('(').filter(|open| self.content.find(':').is_some_and(|colon| *open < colon));
        let from = open.and_then(|_| self.content.find(')')).unwrap_or(0);
        let colon = self.content.get(from..)?.find(':')?.saturating_add(from);
        let (key, rest) = self.content.split_at_checked(colon)?;
        let rest = rest.strip_prefix(':')?;
        let is_key = !key.is_empty() && !key.contains(['"', '\'', '{', '[']) || key.starts_with(['"', '\'']);
        let ends = rest.is_empty() || rest.starts_with([' ', '\r']);
        (is_key && ends).then(|| (key.trim().trim_matches(['"', '\'']), rest.trim_start()))
    }

    /// Returns whether a value goes on below the line: a block, or text of several lines.
    fn opens_text(&self) -> bool {
        self.entry().is_some_and(|(_, value)| !value.trim().is_empty() && !value.starts_with('#'))
    }
}

impl YamlPath {
    /// Returns the place of a cursor at the end of a text.
    pub(crate) fn at_end(before: &str) -> Self {
        let mut lines = before.rsplit('\n').map(Line::new);
        let Some(last) = lines.next() else { return Self::nowhere() };
        let mut parents = Vec::new();
        let mut limit = last.indent;
        let mut key = last.entry().map(|(key, _)| key.to_owned());
        let mut text = last.entry().map_or(last.content, |(_, value)| value).to_owned();
        // The lines of a text between its key and the cursor.
        let mut above = Vec::new();
        for line in lines.filter(|line| !line.is_nothing()) {
            if line.indent >= limit {
                if parents.is_empty() && key.is_none() {
                    above.push(line.content.to_owned());
                }
                continue;
            }
            let Some((name, value)) = line.entry() else { continue };
            if parents.is_empty() && line.opens_text() {
                // The cursor is in the text of this key, even if its own line looks like an entry.
                let starts = !value.starts_with(['|', '>']);
                let own = std::mem::take(&mut text);
                let own = if key.is_some() { last.content.to_owned() } else { own };
                above.reverse();
                let first = starts.then(|| value.to_owned());
                text = first.into_iter().chain(std::mem::take(&mut above)).chain([own]).collect::<Vec<_>>().join("\n");
                key = Some(name.to_owned());
            } else {
                parents.push(name.to_owned());
            }
            limit = line.indent;
        }
        parents.reverse();
        let mut path = Self { parents, key, before: text };
        path.enter_flow();
        path.strip_quote();
        path
    }

    fn nowhere() -> Self {
        Self { parents: Vec::new(), key: None, before: String::new() }
    }

    /// Moves into mappings that are written in braces on the line of the cursor.
    fn enter_flow(&mut self) {
        while self.before.starts_with('{') || self.before.starts_with("[{") {
            let inner = self.before.trim_start_matches('[').trim_start_matches('{').trim_start();
            // The last entry; a comma in a text is taken for one between entries, which at worst completes nothing.
            let entry = inner.rsplit(", ").next().unwrap_or(inner).trim_start();
            let line = Line { indent: 0, content: entry };
            let (key, before) = match line.entry() {
                Some((key, value)) => (Some(key.to_owned()), value.to_owned()),
                None => (None, entry.to_owned()),
            };
            self.parents.extend(self.key.take());
            (self.key, self.before) = (key, before);
        }
    }

    fn strip_quote(&mut self) {
        if self.key.is_some()
            && let Some(rest) = self.before.strip_prefix(['"', '\''])
        {
            self.before = rest.to_owned();
        }
    }

    /// Returns what may stand in the mapping around the cursor.
    pub(crate) fn mappings(&self) -> Vec<&'static ValueSpec> {
        let mut specs = vec![&Policy::keys().root];
        for parent in &self.parents {
            specs = specs.into_iter().flat_map(|spec| child(spec, parent)).collect();
        }
        specs.into_iter().flat_map(alternatives).collect()
    }

    /// Returns the keys that may stand where the cursor is.
    pub(crate) fn keys(&self) -> Vec<&'static KeySpec> {
        let mut found: Vec<&'static KeySpec> = Vec::new();
        for key in self.mappings().into_iter().filter_map(mapping).flat_map(|mapping| mapping.keys) {
            if !found.iter().any(|known| known.name == key.name) {
                found.push(key);
            }
        }
        found
    }

    /// Returns the table's row of the key whose value the cursor is in.
    pub(crate) fn key_spec(&self) -> Option<&'static KeySpec> {
        let key = self.key.as_deref()?;
        self.mappings().into_iter().filter_map(mapping).find_map(|mapping| mapping.key(key))
    }

    /// Returns what the value around the cursor may be.
    pub(crate) fn values(&self) -> Vec<&'static ValueSpec> {
        let Some(key) = &self.key else { return self.mappings() };
        self.mappings().into_iter().flat_map(|spec| child(spec, key)).flat_map(alternatives).collect()
    }
}

fn mapping(spec: &'static ValueSpec) -> Option<&'static MappingSpec> {
    if let ValueSpec::Mapping(mapping) = spec { Some(mapping) } else { None }
}

/// Returns what the value of a key may be. A list is entered without a key.
fn child(spec: &'static ValueSpec, key: &str) -> Vec<&'static ValueSpec> {
    alternatives(spec)
        .into_iter()
        .filter_map(|spec| match spec {
            ValueSpec::Mapping(mapping) => mapping.key(key).map(|key| &key.value),
            ValueSpec::Map(value) => Some(*value),
            _ => None,
        })
        .collect()
}

/// Returns the specifications that a value may fit, with the elements of lists. Tables are nested less than ten deep.
fn alternatives(spec: &'static ValueSpec) -> Vec<&'static ValueSpec> {
    let (mut open, mut found) = (vec![spec], Vec::new());
    while let Some(spec) = open.pop() {
        match spec {
            ValueSpec::OneOf(specs) => open.extend(specs.iter().rev()),
            ValueSpec::List(element) => open.push(element),
            other => found.push(other),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &str) -> String {
        let YamlPath { parents, key, before } = YamlPath::at_end(before);
        format!("{} {}: {before}", parents.join("/"), key.unwrap_or_default())
    }

    #[test]
    fn keys_around_a_cursor_are_found() {
        for (before, wanted) in [
            ("req", " : req"),
            ("request:\n- when: a", "request when: a"),
            ("request:\n- name: x\n  # c\n\n  wh", "request : wh"),
            ("request:\n  rules:\n  - name: x\n    deny: {sta", "request/rules/deny : sta"),
            ("request:\n- redirect:\n    to: 'https://${re", "request/redirect to: https://${re"),
            ("request:\n- setHeaders: {a: b, c: \"${x", "request/setHeaders c: ${x"),
            ("response:\n- when: |\n    a &&\n    b.", "response when: a &&\nb."),
            ("response:\n- when: a &&\n    b.", "response when: a &&\nb."),
            ("functions:\n  f(a: int, b: int) -> int: a + ", "functions f(a: int, b: int) -> int: a + "),
            ("- {when: x", " when: x"),
            ("", " : "),
        ] {
            assert_eq!(shown(before), wanted, "{before:?}");
        }
    }

    #[test]
    fn keys_and_values_follow_the_tables() {
        let keys = |before: &str| -> Vec<&str> { YamlPath::at_end(before).keys().iter().map(|key| key.name).collect() };
        assert!(keys("").contains(&"requestBody"));
        assert!(keys("request:\n- ").contains(&"setHeaders"));
        assert_eq!(keys("request:\n- respond:\n    "), ["status", "headers", "body"]);
        assert!(keys("log:\n- logFields:\n    ").is_empty());
        let is_expression =
            |before: &str| YamlPath::at_end(before).values().iter().any(|value| matches!(value, ValueSpec::Expression));
        assert!(is_expression("request:\n- when: ") && is_expression("variables:\n  a: "));
        assert!(!is_expression("request:\n- name: "));
    }
}
