//! The language of the rules of a policy that name none, while its text is being typed and may not
//! be YAML: the entry `language` of `defaults`.

use celero_tooling::language::Language;

/// Returns the language that `defaults` names, wherever it stands in the text, as a block or in
/// braces. `None` if it names none, or there is no such key at the root.
pub(crate) fn default_language(text: &str) -> Option<Language> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("defaults:"));
    let first = without_comment(lines.next()?.strip_prefix("defaults:")?).trim();
    // The mapping ends with the next key of the root.
    let block = lines.take_while(|line| line.trim_start().is_empty() || line.starts_with([' ', '#', '}']));
    let block = block.map(without_comment).filter(|line| !line.trim().is_empty());
    if let Some(flow) = first.strip_prefix('{') {
        let text = block.fold(flow.to_owned(), |text, line| text + " " + line);
        return in_braces(&text);
    }
    let mut indentation = None;
    for line in block {
        let entry = line.trim_start_matches(' ');
        let here = line.len().saturating_sub(entry.len());
        // Deeper lines belong to other entries.
        if *indentation.get_or_insert(here) == here
            && let Some(language) = named_in(entry)
        {
            return Some(language);
        }
    }
    None
}

/// Returns the language that an entry `language: NAME` of a mapping names.
pub(crate) fn named_in(entry: &str) -> Option<Language> {
    let name = without_comment(entry.strip_prefix("language:")?).trim_end_matches([' ', '}', ',']).trim();
    Language::named(name.trim_matches(['"', '\''])).ok()
}

/// The entries of a mapping in braces, up to its end.
fn in_braces(text: &str) -> Option<Language> {
    let (mut depth, mut start) = (1_usize, 0);
    for (at, character) in text.char_indices().chain([(text.len(), '}')]) {
        match character {
            '{' | '[' => depth = depth.saturating_add(1),
            ',' | '}' | ']' if depth == 1 => {
                let entry = text.get(start..at)?.trim();
                if let Some(language) = named_in(entry) {
                    return Some(language);
                }
                if character == '}' {
                    return None;
                }
                start = at.saturating_add(1);
            }
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// A line without its comment.
fn without_comment(line: &str) -> &str {
    if line.trim_start().starts_with('#') { "" } else { line.split(" #").next().unwrap_or(line) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_defaults_is_found_wherever_it_is() {
        let filter = Some(Language::filter());
        let long = format!("defaults:\n{}  language: filter\nrequest:\n", "  # why\n".repeat(20));
        let late = "request:\n- when: http.ho\ndefaults:\n  language: filter\n";
        for (text, language) in [
            ("defaults:\n  language: filter\nrequest:\n- when: http.ho", filter),
            (&*long, filter),
            (late, filter),
            ("defaults: {language: filter}\n", filter),
            ("defaults: {onError: {a: 1, language: cel}, language: \"filter\", x: y}\n", filter),
            ("defaults: {\n  onError: stop,\n  language: filter\n}\n", filter),
            ("defaults:\n  onError: stop\n\n  language: 'filter' # all\n", filter),
            ("defaults:\n  language: cel\n", Some(Language::cel())),
            // None of these is an entry of `defaults`.
            ("# defaults:\n#   language: filter\nrequest:\n", None),
            ("defaults:\n  # language: filter\n  onError: stop\n", None),
            ("defaults:\n  errors:\n    language: filter\n", None),
            ("defaults:\n  onError: stop\nrequest:\n- language: filter\n", None),
            ("request:\n- name: the defaults:\n  language: filter\n", None),
            ("defaults: {onError: {language: filter}}\n", None),
            ("defaults: {onError: stop}\nrequest:\n- {language: filter}\n", None),
            ("defaults:\n  language: french\n", None),
            ("defaults: {", None),
        ] {
            assert_eq!(default_language(text), language, "{text}");
        }
    }
}
