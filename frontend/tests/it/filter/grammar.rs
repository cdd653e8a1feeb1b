//! Blanks, values, layout. `tests/filetests/filter/grammar/` has every production.

use super::{canonical, check, json, scheme};
use celero_frontend::filter::{FilterOptions, check_value, filter_json, format_filter, unparse_filter};
use std::fmt::Write;

/// Texts with blanks of every kind, each with its canonical text. `tests/filetests/filter/grammar/`
/// has every production.
const BLANKS: &[(&str, &str)] = &[
    (" \u{a0}\tssl \r\n", "ssl"),
    ("ssl\r\nand\nnot\nssl", "ssl and not ssl"),
    ("port in {\r\n80\n443 }", "port in {80 443}"),
    ("lower\n(\rpath ) eq\n\"a\"", "lower(path) eq \"a\""),
    ("headers[ \"a\" ][\n0\r]\neq \"a\nb\u{202e}\"", "headers[\"a\"][0] eq \"a\\x0Ab\\xE2\\x80\\xAE\""),
    ("path eq r\"\u{7}\"", "path eq \"\\x07\""),
];

#[test]
fn blanks_are_skipped_between_the_parts() {
    let options = FilterOptions::default();
    for (source, expected) in BLANKS {
        assert_eq!(canonical(source), *expected, "{source:?}");
        assert_eq!(json(expected), json(source));
        for width in [0, 20, 80] {
            let formatted = format_filter(source, &scheme(), &options, width).unwrap();
            assert_eq!(format_filter(&formatted, &scheme(), &options, width).unwrap(), formatted);
            assert_eq!(json(&formatted), json(source), "{source:?}");
        }
    }
    for source in ["ssl\tand ssl", "ssl\u{a0}and ssl", "ssl\u{b}and ssl", "port in {80\t443}", "names [0] eq \"a\""] {
        assert!(check(source, &options).is_err(), "{source:?}");
    }
}

#[test]
fn values_are_read_alone() {
    let options = FilterOptions::default();
    let (tree, _) = check_value(" concat(\"/x\", path) ", &scheme(), &options).unwrap();
    assert_eq!(tree.result_type().to_string(), "Bytes");
    assert_eq!(unparse_filter(&tree), "concat(\"/x\", path)");
    assert!(filter_json(&tree).starts_with("{\"name\":\"concat\""));
    let (tree, _) = check_value("lower(names[*])", &scheme(), &options).unwrap();
    assert_eq!(tree.result_type().to_string(), "Array<Bytes>");
    let errors = check_value("names[*]", &scheme(), &options).unwrap_err();
    assert_eq!(errors[0].message, "expected value of type Bytes, but got Array<Bytes>");
    assert_eq!(check_value("path eq \"a\"", &scheme(), &options).unwrap_err()[0].message, "unrecognised input");
}

#[test]
fn a_rule_that_is_too_long_for_a_line_is_broken_at_its_connectives() {
    let rule =
        "(ip in {10.0.0.0/8 172.16.0.0/12 192.168.0.0/16} or ssl) and not (path eq \"aaaaaaaaaaaa\" or path eq \"b\")";
    let formatted = format_filter(rule, &scheme(), &FilterOptions::default(), 30).unwrap();
    let mut expected = String::new();
    for line in [
        "(",
        "  ip in {",
        "    10.0.0.0/8 172.16.0.0/12",
        "    192.168.0.0/16",
        "  }",
        "  or ssl",
        ")",
        "and not (",
        "  path eq \"aaaaaaaaaaaa\"",
        "  or path eq \"b\"",
        ")",
    ] {
        let _ = writeln!(expected, "{line}");
    }
    assert_eq!(formatted, expected);
}
