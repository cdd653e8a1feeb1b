//! The commands on all pages: each runs, and prints what the page shows. `BLESS=1` writes the output
//! anew. Commands in the prose (`celero check --json`) have the options that are named.
//!
//! `tests/book/src/console.rs` says how a block of `console` is read; two blanks and `#` begin a
//! comment. What a command prints is its standard output, then its standard error. Commands exit
//! with 0, the last one of a block with `exit=1` in its fence with 1. Only `celero` and
//! `cargo run -p celero-cli --` run here.

#![expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "tests")]

#[path = "../../../../../tests/book/src/markdown.rs"]
#[expect(unreachable_pub, reason = "shared with the tests of the pages")]
mod markdown;

#[path = "../../../../../tests/book/src/console.rs"]
#[expect(unreachable_pub, reason = "shared with the tests of other pages")]
mod console;

use crate::support::{celero, command};
use console::{commands, lines, shows};
use markdown::{Block, blocks, prose};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// All pages in a folder and those below it, without what is built and fetched.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        if path.is_dir() {
            if !name.starts_with('.') && !["target", "node_modules"].contains(&&*name) {
                pages(&path, found);
            }
        } else if path.extension().is_some_and(|e| e == "md") {
            found.push(path);
        }
    }
}

/// Splits a command into words, as a shell does with quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut started) = (Vec::new(), String::new(), None, false);
    for c in line.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '\'' | '"') => (quote, started) = (Some(c), true),
            (None, ' ') if started => {
                words.push(std::mem::take(&mut word));
                started = false;
            }
            (None, ' ') => {}
            (_, c) => {
                word.push(c);
                started = true;
            }
        }
    }
    if started {
        words.push(word);
    }
    words
}

/// The arguments for `celero` in a line of a page, and its standard input: `celero ..`,
/// `cargo run -p celero-cli -- ..` or `echo TEXT | celero ..`.
fn arguments(line: &str) -> Option<(Vec<String>, String)> {
    let line = line.split("  #").next().unwrap_or(line).trim();
    let words = words(line);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (arguments, input) = match &words[..] {
        ["celero", arguments @ ..] => (arguments, String::new()),
        ["echo", text, "|", "celero", arguments @ ..] => (arguments, format!("{text}\n")),
        ["cargo", "run", rest @ ..] if line.contains("-p celero-cli") => {
            (&rest[rest.iter().position(|word| *word == "--")? + 1..], String::new())
        }
        _ => return None,
    };
    Some((arguments.iter().map(|&word| word.to_owned()).collect(), input))
}

/// Runs the commands of a block in `folder`. Returns its body with their actual output.
fn run(block: &Block<'_>, folder: &Path, place: &str, wrong: &mut String) -> String {
    let mut actual_body = String::new();
    let commands = commands(block.body);
    for (i, &(line, shown)) in commands.iter().enumerate() {
        let Some((arguments, input)) = arguments(line) else {
            let _ = writeln!(wrong, "{place}: `{line}` can't run here: mark the block with no-run=\"reason\"");
            continue;
        };
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut child = command(&arguments).current_dir(folder).env("NO_COLOR", "1").spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        let last = i + 1 == commands.len();
        let code = block.attribute("exit").filter(|_| last).map_or(0, |code| code.parse().unwrap());
        if output.status.code() != Some(code) {
            let _ = writeln!(wrong, "{place}: `{line}` exits with {:?}, not {code}:\n{text}", output.status.code());
        }
        let (shown_lines, actual) = (lines(shown), lines(text.trim_end()));
        let compared = !shown.trim().is_empty();
        if compared && !shows(&shown_lines, &actual) {
            let _ = writeln!(wrong, "{place}: `{line}` prints\n{text}\nnot\n{shown}");
        }
        let output =
            if compared && !shown_lines.contains(&"...") { actual.join("\n") + "\n" } else { shown.to_owned() };
        let end = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
        let _ = write!(actual_body, "$ {line}\n{output}{end}");
    }
    actual_body
}

#[test]
fn commands_on_the_pages_print_what_they_show() {
    let bless = std::env::var_os("BLESS").is_some_and(|v| v == "1");
    let mut paths = Vec::new();
    pages(&root(), &mut paths);
    let (mut wrong, mut commands) = (String::new(), 0);
    for path in paths {
        let page = std::fs::read_to_string(&path).unwrap();
        let blocks = blocks(&page);
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap();
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!(
            "book-{}-{}",
            std::process::id(),
            name.replace('/', "-")
        ));
        std::fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink(root().canonicalize().unwrap().join("examples"), folder.join("examples")).unwrap();
        let mut blessed = page.clone();
        for block in &blocks {
            if let Some(file) = block.attribute("file") {
                std::fs::write(folder.join(file), block.body).unwrap();
            }
            if block.language == "console" && block.attribute("no-run").is_none() {
                commands += block.body.lines().filter(|line| line.starts_with("$ ")).count();
                let actual = run(block, &folder, &format!("{name}:{}", block.line), &mut wrong);
                blessed = blessed.replacen(block.body, &actual, 1);
            }
        }
        std::fs::remove_dir_all(&folder).unwrap();
        if bless && blessed != page {
            std::fs::write(&path, blessed).unwrap();
        }
    }
    assert!(bless || wrong.is_empty(), "{wrong}");
    assert!(commands >= 10, "{commands}");
}

/// The commands between backquotes in the prose of a page, without `celero`.
fn mentioned(page: &str) -> Vec<String> {
    let prose = prose(page);
    let spans = prose.split("\n\n").flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2));
    spans
        .filter_map(|span| Some(span.strip_prefix("celero ")?.split_whitespace().collect::<Vec<_>>().join(" ")))
        .collect()
}

/// What is wrong with a command: it is not known, or its help does not name an option. `helps` has the helps so far.
fn unknown(mentioned: &str, helps: &mut BTreeMap<String, Option<String>>) -> Option<String> {
    let is_name = |word: &&str| word.starts_with(|c: char| c.is_ascii_lowercase()) && !word.contains(['.', '/']);
    let words = words(mentioned.split(" -e ").next()?);
    let mut names: Vec<&str> = words.iter().map(String::as_str).take_while(is_name).collect();
    // `lists` has commands of its own; other commands have one name, and then arguments. `lab` is another program.
    match *names.first()? {
        "lab" => return None,
        "lists" => names.truncate(2),
        _ => names.truncate(1),
    }
    let help = helps.entry(names.join(" ")).or_insert_with(|| {
        let arguments: Vec<&str> = names.iter().copied().chain(["--help"]).collect();
        let run = celero(&arguments);
        (run.code == 0).then_some(run.out)
    });
    let Some(help) = help else { return Some("there is no such command".to_owned()) };
    let known = |option: &str| help.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').any(|word| word == option);
    let options = words.iter().filter(|word| word.starts_with('-') && word.len() > 1);
    let options = options.map(|word| word.split('=').next().unwrap_or(word));
    options.filter(|option| !known(option)).map(|option| format!("its help does not name `{option}`")).next()
}

#[test]
fn commands_in_the_prose_have_these_options() {
    let (mut paths, mut helps, mut wrong, mut all) = (Vec::new(), BTreeMap::new(), String::new(), 0);
    pages(&root(), &mut paths);
    for path in paths {
        let page = std::fs::read_to_string(&path).unwrap();
        for command in mentioned(&page) {
            all += 1;
            if let Some(reason) = unknown(&command, &mut helps) {
                let _ = writeln!(wrong, "{}: `celero {command}`: {reason}", path.display());
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(all > 50, "{all}");
    for command in ["chekc x.rules", "check --jsn", "lists shw x"] {
        assert!(unknown(command, &mut helps).is_some(), "{command}");
    }
}
