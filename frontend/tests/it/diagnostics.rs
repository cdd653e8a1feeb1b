//! What authors see: `diagnostics.txt` holds sources and the text their errors are rendered to;
//! every code of the parser is in it. Each entry is the source, a line `=>`, the rendering, and a
//! line `----`. In sources `\e` stands for nothing (to write an empty one), `\t` and `\r` for
//! themselves.
//!
//! With `BLESS` set, the test writes the file anew instead of comparing; read the difference before keeping it.

use celero_frontend::{Diagnostic, Label, Limits, PARSER_CODES, Span, Stage, Style, parse, render};

#[test]
fn rendering_is_as_recorded() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/diagnostics.txt");
    let recorded = std::fs::read_to_string(path).unwrap();
    let bless = std::env::var_os("BLESS").is_some();
    let mut actual = String::new();
    for entry in recorded.split_inclusive("----\n") {
        let (written, _) = entry.split_once("\n=>\n").unwrap_or((entry, ""));
        let source = written.replace("\\e", "").replace("\\t", "\t").replace("\\r", "\r");
        let diagnostics = parse(&source, &Limits::default()).expect_err(&source);
        let rendered = format!("{written}\n=>\n{}----\n", render(&source, "rule", &diagnostics, Style::Plain));
        assert!(bless || rendered == entry, "recorded:\n{entry}\nnow:\n{rendered}");
        actual += &rendered;
    }
    if bless {
        std::fs::write(path, &actual).unwrap();
    }
    for info in PARSER_CODES.iter().filter(|info| info.stage == Stage::Parse) {
        assert!(recorded.contains(&format!("error[{}]", info.code)), "no example of {}", info.code);
    }
}

#[test]
fn colours_change_nothing_else() {
    let source = "f(a, b == 'c'";
    let diagnostics = parse(source, &Limits::default()).unwrap_err();
    let coloured = render(source, "rule", &diagnostics, Style::Ansi);
    let mut plain = String::new();
    let mut pieces = coloured.split("\x1b[");
    plain += pieces.next().unwrap();
    for piece in pieces {
        plain += piece.split_once('m').unwrap().1;
    }
    assert_ne!(plain, coloured);
    assert_eq!(plain, render(source, "rule", &diagnostics, Style::Plain));
}

#[test]
fn what_could_harm_a_terminal_is_not_printed() {
    let source = "'\u{202e}\u{1b}[2J\u{9b}\u{feff}\u{7}' x";
    let text = render(source, "rule", &parse(source, &Limits::default()).unwrap_err(), Style::Plain);
    assert!(text.contains("1 | '\u{fffd}\u{fffd}[2J\u{fffd}\u{fffd}\u{fffd}' x\n  |            ^\n"), "{text}");
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
}

#[test]
fn codes_are_distinct_and_kebab_case() {
    for (at, info) in PARSER_CODES.iter().enumerate() {
        assert!(info.code.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", info.code);
        assert!(PARSER_CODES.iter().skip(at + 1).all(|other| other.code != info.code), "{}", info.code);
    }
}

/// A message quotes what others have written, and stands in logs: it must not look like other lines of the log.
#[test]
fn no_text_of_a_diagnostic_begins_a_line() {
    let hostile = "a\u{1b}[2J\n2026-01-01 INFO all is well\r\u{202e}";
    let error = Diagnostic::error(Stage::Check, "some-code", Span::new(0, 1), format!("no key `{hostile}`"));
    let found = Diagnostic {
        labels: vec![Label { span: Span::new(1, 2), text: hostile.to_owned() }],
        help: vec![hostile.to_owned()],
        ..error
    };
    for style in [Style::Plain, Style::Ansi] {
        let text = render("xy", &format!("file {hostile}"), std::slice::from_ref(&found), style);
        assert_eq!(text.matches("INFO").count(), 4, "{text:?}");
        assert!(text.lines().all(|line| !line.starts_with("2026")), "{text:?}");
        assert!(!text.contains(['\u{202e}', '\r']) && !text.contains("\u{1b}[2J"), "{text:?}");
    }
}
