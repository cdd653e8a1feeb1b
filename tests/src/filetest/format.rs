//! The text of a file test: settings, then sections. Printing what was parsed gives the canonical form of the file.

use std::fmt;

/// A file test.
#[derive(Debug)]
pub(crate) struct File {
    preamble: String,
    /// In the order of the file.
    pub(crate) sections: Vec<Section>,
}

/// What stands before the first section.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) container: String,
    pub(super) unchecked: bool,
    /// Names of libraries that are turned off.
    pub(super) without: Vec<String>,
    pub(super) http: bool,
    pub(super) source: Option<std::net::SocketAddr>,
    /// Declarations and bodies of functions.
    pub(super) definitions: Vec<(String, String)>,
    pub(super) variables: Vec<(String, String)>,
}

/// Sections that an empty line separates from those before them.
const OPENING: &[&str] = &["rule", "value", "given", "table", "values", "texts", "define"];

/// `--- kind argument` and the lines below it.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) line: usize,
    pub(crate) kind: String,
    pub(crate) argument: String,
    /// Without empty lines at its end.
    pub(crate) body: String,
}

impl Section {
    pub(crate) fn title(&self) -> String {
        format!("{} {}", self.kind, self.argument).trim_end().to_owned()
    }
}

impl File {
    pub(crate) fn parse(text: &str) -> Self {
        let mut preamble = Vec::new();
        let mut sections: Vec<(usize, &str, Vec<&str>)> = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            match (line.strip_prefix("--- "), sections.last_mut()) {
                (Some(title), _) => sections.push((number, title, Vec::new())),
                (None, Some((_, _, body))) => body.push(line),
                (None, None) => preamble.push(line),
            }
        }
        let preamble = preamble.join("\n").trim_end().to_owned();
        let sections = sections.into_iter().map(|(line, title, body)| {
            let (kind, argument) = title.split_once(' ').unwrap_or((title, ""));
            let body = body.join("\n").trim_end().to_owned();
            Section { line, kind: kind.to_owned(), argument: argument.trim().to_owned(), body }
        });
        Self { preamble, sections: sections.collect() }
    }

    /// The settings, as names and values. A name that is indented belongs to the setting above it.
    pub(crate) fn settings(&self) -> Result<Vec<(&str, &str)>, String> {
        let content = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
        let setting = |line: &'_ str| format!("setting `{line}`: expected `NAME: VALUE`");
        let lines = self.preamble.lines().filter(content);
        lines
            .map(|line| line.split_once(':').map(|(name, value)| (name, value.trim())).ok_or_else(|| setting(line)))
            .collect()
    }
}

impl Settings {
    pub(super) fn of(file: &File) -> Result<Self, String> {
        let mut settings = Self::default();
        for (name, value) in file.settings()? {
            match name {
                "container" => value.clone_into(&mut settings.container),
                "unchecked" => settings.unchecked = value == "true",
                "without" => settings.without = value.split(", ").map(str::to_owned).collect(),
                "context" if value == "http" => settings.http = true,
                "source" => settings.source = Some(value.parse().map_err(|e| format!("source `{value}`: {e}"))?),
                "define" => settings.definitions.push(definition(value)?),
                "variables" if value.is_empty() => {}
                _ if name.starts_with("  ") => settings.variables.push((name.trim().to_owned(), value.to_owned())),
                _ => return Err(format!("there is no setting `{name}: {value}`")),
            }
        }
        Ok(settings)
    }
}

/// Declaration and body of `f(x: int) -> int = x + 1`.
pub(super) fn definition(text: &str) -> Result<(String, String), String> {
    let (declaration, body) = text.split_once('=').ok_or_else(|| format!("`{text}`: expected `DECLARATION = BODY`"))?;
    Ok((declaration.trim().to_owned(), body.trim().to_owned()))
}

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut empty = true;
        if !self.preamble.is_empty() {
            writeln!(f, "{}", self.preamble)?;
            empty = false;
        }
        for section in &self.sections {
            if OPENING.contains(&section.kind.as_str()) && !empty {
                writeln!(f)?;
            }
            writeln!(f, "--- {}", section.title())?;
            if !section.body.is_empty() {
                writeln!(f, "{}", section.body)?;
            }
            empty = false;
        }
        Ok(())
    }
}
