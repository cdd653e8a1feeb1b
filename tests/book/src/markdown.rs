//! What tests read from a Markdown page: its fenced blocks, its headings and its links.
//!
//! A fence may have attributes after the language. `file=NAME`: the block is the content of that
//! file, for the commands on the page. `no-run="REASON"`: the block is not run, and why.

use std::ops::Range;

/// A fenced block.
#[derive(Debug)]
pub struct Block<'a> {
    /// The first word after the fence, such as `cel`.
    pub language: &'a str,
    /// The rest of that line.
    attributes: &'a str,
    /// The lines, each with its line end.
    pub body: &'a str,
    /// The line of the page on which the fence stands, from 1.
    pub line: usize,
}

impl Block<'_> {
    /// Returns the value of an attribute, `name=value` or `name="some value"`.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let (before, after) = self.attributes.split_once(&format!("{name}="))?;
        if !before.is_empty() && !before.ends_with(' ') {
            return None;
        }
        match after.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next(),
            None => after.split(' ').next(),
        }
    }
}

/// Returns the fenced blocks of a page, in order. Fences inside lists may be indented.
#[must_use]
pub fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut open: Option<(&str, usize, usize)> = None;
    let mut at = 0_usize;
    for (number, line) in page.split_inclusive('\n').enumerate() {
        let end = at.saturating_add(line.len());
        if let Some(info) = line.trim_start().strip_prefix("```") {
            match open.take() {
                None => open = Some((info.trim(), end, number.saturating_add(1))),
                Some((info, start, line)) => {
                    let (language, attributes) = info.split_once(' ').unwrap_or((info, ""));
                    found.push(Block { language, attributes, body: page.get(start..at).unwrap_or_default(), line });
                }
            }
        }
        at = end;
    }
    found
}

/// Returns the page without its fenced blocks.
#[must_use]
pub fn prose(page: &str) -> String {
    let mut inside = false;
    let mut text = String::new();
    for line in page.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if !inside {
            text.push_str(line);
        }
    }
    text
}

/// A heading outside fenced blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading<'a> {
    /// 1 for the title of a page.
    pub level: usize,
    /// Its text, as it is written.
    pub text: &'a str,
    /// Its anchor, as GitHub and mdBook make it.
    pub anchor: String,
    /// Where its line begins.
    pub at: usize,
}

/// Returns the headings of a page, in order.
#[must_use]
pub fn headings(page: &str) -> Vec<Heading<'_>> {
    let (mut found, mut names) = (Vec::new(), Vec::new());
    let (mut inside, mut end) = (false, 0_usize);
    for line in page.split_inclusive('\n') {
        let at = end;
        end = end.saturating_add(line.len());
        inside ^= line.trim_start().starts_with("```");
        if inside || !line.starts_with('#') {
            continue;
        }
        let text = line.trim_start_matches('#');
        let level = line.len().saturating_sub(text.len());
        let text = text.trim();
        let kept = text.chars().filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        });
        let name: String = kept.flat_map(char::to_lowercase).collect();
        let same = names.iter().filter(|other| **other == name).count();
        let anchor = if same == 0 { name.clone() } else { format!("{name}-{same}") };
        names.push(name);
        found.push(Heading { level, text, anchor, at });
    }
    found
}

/// Returns the anchors of a page's headings.
#[must_use]
pub fn anchors(page: &str) -> Vec<String> {
    headings(page).into_iter().map(|heading| heading.anchor).collect()
}

/// Returns the targets of a page's links and images: what stands between `](` and `)` outside code.
#[must_use]
pub fn links(page: &str) -> Vec<String> {
    link_spans(page).into_iter().filter_map(|span| page.get(span)).map(str::to_owned).collect()
}

/// Returns where these targets stand, in order.
#[must_use]
pub fn link_spans(page: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut in_block, mut in_code, mut at) = (false, false, 0_usize);
    for line in page.split_inclusive('\n') {
        let start = at;
        at = at.saturating_add(line.len());
        if line.trim_start().starts_with("```") {
            (in_block, in_code) = (!in_block, false);
            continue;
        }
        if in_block {
            continue;
        }
        if line.trim().is_empty() {
            // Code between backquotes ends with its paragraph.
            in_code = false;
        }
        let mut before = ' ';
        for (offset, c) in line.char_indices() {
            let opens = before == ']' && c == '(';
            before = c;
            if c == '`' {
                in_code = !in_code;
            }
            if !opens || in_code {
                continue;
            }
            let from = offset.saturating_add(1);
            if let Some(length) = line.get(from..).and_then(|rest| rest.find(')')) {
                let from = start.saturating_add(from);
                found.push(from..from.saturating_add(length));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_read() {
        let page = "# A `b` page\n\n[x](y.md#z) `[no](link)`\n\n```cel\n1 => 1\n```\n## A b\n- list\n  ```sh no-run=\"a reason\" file=f\n  ls\n  ```\n## A b\n## A b\n";
        let found = blocks(page);
        assert_eq!(
            found.iter().map(|b| (b.language, b.body, b.line)).collect::<Vec<_>>(),
            [("cel", "1 => 1\n", 5), ("sh", "  ls\n", 10)]
        );
        let last = found.last().map(|b| (b.attribute("no-run"), b.attribute("file"), b.attribute("run")));
        assert_eq!(last, Some((Some("a reason"), Some("f"), None)));
        assert_eq!(prose(page).lines().count(), 8);
        assert_eq!(anchors(page), ["a-b-page", "a-b", "a-b-1", "a-b-2"]);
        let levels: Vec<_> = headings(page).into_iter().map(|h| (h.level, h.text, h.at)).collect();
        assert_eq!(levels[..2], [(1, "A `b` page", 0), (2, "A b", 58)]);
        assert_eq!(links(page), ["y.md#z"]);
        assert_eq!(links("[`a`](b) `c\nd](e)` ![f](g.svg)\n\n[h]\n(i) [j](k#l)"), ["b", "g.svg", "k#l"]);
    }
}
