//! `docs/pictures/terminal.svg`: commands and their coloured output, as they are. `BLESS=1` writes it anew.

#![expect(clippy::arithmetic_side_effects, reason = "tests")]

use crate::support::command;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The session: commands as people type them. They run in the root of the repository.
const SESSION: [&[&str]; 3] = [
    &["eval", "--request", "examples/request.http", "-e", "request.pth == \"/api\" && request.method > 3"],
    &["eval", "--request", "examples/request.http", "-e", "request.path.startsWith(\"/api/\")"],
    &["test", "examples/policy.yaml", "examples/cases.yaml"],
];

const LINE: usize = 18;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// The colour of a terminal's code, on a dark ground.
fn colour(code: u32) -> Option<&'static str> {
    Some(match code {
        30 | 90 => "#8b949e",
        31 | 91 => "#ff7b72",
        32 | 92 => "#7ee787",
        33 | 93 => "#e3b341",
        34 | 94 => "#79c0ff",
        35 | 95 => "#d2a8ff",
        36 | 96 => "#76e3ea",
        _ => return None,
    })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A line with escape sequences as the content of a `<text>`.
fn spans(line: &str) -> String {
    let (mut svg, mut style) = (String::new(), String::new());
    for (i, piece) in line.split("\u{1b}[").enumerate() {
        let text = match piece.split_once('m') {
            Some((codes, text)) if i > 0 => {
                for code in codes.split(';').map(|code| code.parse().unwrap_or(0)) {
                    match (code, colour(code)) {
                        (_, Some(colour)) => style = format!("{style} fill=\"{colour}\""),
                        (1, _) => style += " font-weight=\"bold\"",
                        _ => style.clear(),
                    }
                }
                text
            }
            _ => piece,
        };
        if !text.is_empty() {
            let _ = write!(svg, "<tspan{style}>{}</tspan>", escaped(text));
        }
    }
    svg
}

fn svg(lines: &[String]) -> String {
    let height = LINE * lines.len() + 44;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 860 {height}\" font-family=\"ui-monospace, Menlo, Consolas, monospace\" \
         font-size=\"13\" fill=\"#e6edf3\">\n<title>The command celero in a terminal</title>\n\
         <rect width=\"860\" height=\"{height}\" rx=\"8\" fill=\"#0d1117\"/>\n\
         <circle cx=\"18\" cy=\"16\" r=\"5\" fill=\"#ff7b72\"/><circle cx=\"36\" cy=\"16\" r=\"5\" fill=\"#e3b341\"/>\
         <circle cx=\"54\" cy=\"16\" r=\"5\" fill=\"#7ee787\"/>\n"
    );
    for (i, line) in lines.iter().enumerate() {
        let y = 44 + i * LINE;
        let _ = writeln!(svg, "<text x=\"16\" y=\"{y}\" xml:space=\"preserve\">{}</text>", spans(line));
    }
    svg + "</svg>\n"
}

#[test]
fn the_picture_of_a_session_is_the_one_of_this_version() {
    let mut lines = Vec::new();
    for arguments in SESSION {
        let typed: Vec<String> =
            arguments.iter().map(|a| if a.contains([' ', '"']) { format!("'{a}'") } else { (*a).to_owned() }).collect();
        lines.push(format!("\u{1b}[32m$\u{1b}[0m \u{1b}[1mcelero {}\u{1b}[0m", typed.join(" ")));
        let mut with_colour = vec!["--color", "always"];
        with_colour.extend(arguments);
        let output = command(&with_colour).current_dir(root()).output().unwrap();
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        lines.extend(text.trim_end().lines().map(str::to_owned));
        lines.push(String::new());
    }
    lines.pop();
    let (path, drawn) = (root().join("docs/pictures/terminal.svg"), svg(&lines));
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, &drawn).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), drawn, "run this test with BLESS=1");
}

#[test]
fn escape_sequences_become_colours() {
    assert_eq!(
        spans("a\u{1b}[1;31m<b\u{1b}[0mc"),
        "<tspan>a</tspan><tspan font-weight=\"bold\" fill=\"#ff7b72\">&lt;b</tspan><tspan>c</tspan>"
    );
}
