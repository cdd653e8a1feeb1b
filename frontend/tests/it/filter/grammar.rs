//! Every production of the grammar: what is accepted, its canonical text, its JSON in Wirefilter's shape.

use super::{canonical, check, json, scheme};
use celero_frontend::filter::{FilterOptions, check_value, filter_json, format_filter, unparse_filter};
use std::fmt::Write;

/// Accepted texts, each with its canonical one.
const ACCEPTED: &[(&str, &str)] = &[
    // Spellings of operators; blanks are optional.
    ("port==80", "port eq 80"),
    ("port eq 80", "port eq 80"),
    ("port != 80 || port ne 80", "port ne 80 or port ne 80"),
    ("port >= 1 && port ge 1", "port ge 1 and port ge 1"),
    ("port <= 1 ^^ port le 1", "port le 1 xor port le 1"),
    ("port > 1 or port gt 1", "port gt 1 or port gt 1"),
    ("port < 1 xor port lt 1", "port lt 1 xor port lt 1"),
    ("port & 8 and port bitwise_and 0x10", "port bitwise_and 8 and port bitwise_and 16"),
    ("path ~ \"x\" or path matches \"y\"", "path matches \"x\" or path matches \"y\""),
    ("path contains \"x\"", "path contains \"x\""),
    ("path wildcard \"*x\" or path strict wildcard r\"x*\"", "path wildcard \"*x\" or path strict wildcard r\"x*\""),
    (" \u{a0}\tssl \r\n", "ssl"),
    ("ssl\r\nand\nnot\nssl", "ssl and not ssl"),
    // Keywords need no blank behind them.
    ("notssl", "not ssl"),
    ("ssl orssl", "ssl or ssl"),
    ("sslor ssl", ""),
    ("http.host eq\"a\"", "http.host eq \"a\""),
    ("http.host in{\"a\"}", "http.host in {\"a\"}"),
    ("ip in$bad", "ip in $bad"),
    // Precedence, chains, parentheses.
    ("ssl or ssl xor ssl and ssl", "ssl or ssl xor ssl and ssl"),
    ("((ssl or ssl) xor ssl) and ssl", "((ssl or ssl) xor ssl) and ssl"),
    ("(ssl and ssl) and ssl", "(ssl and ssl) and ssl"),
    ("(ssl and ssl) or ssl", "ssl and ssl or ssl"),
    ("((ssl))", "ssl"),
    ("not port == 1", "not port eq 1"),
    ("! ( not !ssl )", "not not not ssl"),
    ("not (ssl or ssl)", "not (ssl or ssl)"),
    ("not ssl and ssl", "not ssl and ssl"),
    // Numbers.
    (
        "port in {0x1F 017 0 -1 -9223372036854775808 9223372036854775807}",
        "port in {31 15 0 -1 -9223372036854775808 9223372036854775807}",
    ),
    ("port in {80..90 -2..-1 5..5}", "port in {80..90 -2..-1 5}"),
    ("port in {}", "port in {}"),
    ("port in{1 1}", "port in {1 1}"),
    // Addresses.
    ("ip == 10.0.0.1 or ip ne ::1", "ip eq 10.0.0.1 or ip ne ::1"),
    ("ip == 2001:0DB8:0:0::0", "ip eq 2001:db8::"),
    ("ip lt 10.0.0.1", "ip lt 10.0.0.1"),
    (
        "ip in {10.0.0.0/8 10.0.0.1 ::/10 ::1..::2 1.1.1.01 0.0.0.0/0 1.2.3.4/32}",
        "ip in {10.0.0.0/8 10.0.0.1 ::/10 ::1..::2 1.1.1.1 0.0.0.0/0 1.2.3.4}",
    ),
    ("ip in {1.1.1.1..1.1.1.9}", "ip in {1.1.1.1..1.1.1.9}"),
    // Strings.
    (r#"path eq "a\"b\\c\x41\101\xFF""#, r#"path eq "a\"b\\cAA\xFF""#),
    ("path eq \"a\nb\u{202e}\"", "path eq \"a\\x0Ab\\xE2\\x80\\xAE\""),
    (r##"path eq r"a\n""##, r##"path eq r"a\n""##),
    (r###"path eq r#"a"b"#"###, r###"path eq r#"a"b"#"###),
    (r####"path eq r###"a"##b"###"####, r####"path eq r###"a"##b"###"####),
    ("path eq r\"\u{7}\"", "path eq \"\\x07\""),
    ("path eq 68:65-78.0a", "path eq 68:65:78:0A"),
    ("path lt \"b\" and path ge 00:01", "path lt \"b\" and path ge 00:01"),
    ("path in {\"a\"\"b\" r\"c\" 01:02}", "path in {\"a\" \"b\" r\"c\" 01:02}"),
    ("path eq \"\"", "path eq \"\""),
    // Patterns: escapes belong to the pattern, and a class may contain quotes.
    (r#"path matches "a\"b\.[\"]\d""#, r#"path matches "a\"b\.[\"]\d""#),
    (r#"path matches "[a-z"]+""#, r#"path matches "[a-z"]+""#),
    (r##"path matches r#"[a-z"]\d"#"##, r##"path matches r#"[a-z"]\d"#"##),
    // Wildcards.
    (r#"path wildcard "*\\**""#, r#"path wildcard "*\\**""#),
    (r#"path wildcard r"a\\b?""#, r#"path wildcard r"a\\b?""#),
    // Lists.
    ("ip in $bad or http.host in $bad_hosts.eu", "ip in $bad or http.host in $bad_hosts.eu"),
    // Indexes.
    ("names[0] eq \"a\"", "names[0] eq \"a\""),
    ("headers[ \"x-\\x41\" ][ 010 ] eq \"a\"", "headers[\"x-A\"][8] eq \"a\""),
    ("counts[\"a\"] in {1}", "counts[\"a\"] in {1}"),
    ("flags[1]", "flags[1]"),
    ("masks[0][0]", "masks[0][0]"),
    // Many values.
    ("any(names[*] eq \"a\")", "any(names[*] eq \"a\")"),
    ("all ( parts[*][0] eq \"a\" )", "all(parts[*][0] eq \"a\")"),
    ("any(parts[*][*] in {\"a\"})", "any(parts[*][*] in {\"a\"})"),
    ("any(headers[*][0] contains \"a\")", "any(headers[*][0] contains \"a\")"),
    ("any((names[*] eq \"a\" or values[*] eq \"b\"))", "any((names[*] eq \"a\" or values[*] eq \"b\"))"),
    ("any(not names[*] eq \"a\")", "any(not names[*] eq \"a\")"),
    ("any(flags) and all(masks[0])", "any(flags) and all(masks[0])"),
    ("any((flags)) and all(not flags)", "any((flags)) and all(not flags)"),
    ("anything", "anything"),
    ("any((flags and masks[0] xor flags))", "any((flags and masks[0] xor flags))"),
    // Calls.
    ("lower(path) eq \"a\"", "lower(path) eq \"a\""),
    ("lower ( path ) eq \"a\"", "lower(path) eq \"a\""),
    ("starts_with(path, \"/a\")", "starts_with(path, \"/a\")"),
    ("any(lower(names[*])[*] eq \"a\")", "any(lower(names[*])[*] eq \"a\")"),
    ("any(starts_with(names[*], \"a\"))", "any(starts_with(names[*], \"a\"))"),
    ("concat(path,\"a\",r\"b\",6A:78) eq \"x\"", "concat(path, \"a\", r\"b\", 6A-78) eq \"x\""),
    ("concat(names, values)[0] eq \"x\"", "concat(names, values)[0] eq \"x\""),
    ("concat(names[*], \"-\")[0] eq \"x\"", "concat(names[*], \"-\")[0] eq \"x\""),
    ("cidr(ip, 24, 0x30) eq 10.0.0.0", "cidr(ip, 24, 48) eq 10.0.0.0"),
    (
        "substring(path, -2) eq \"x\" or substring(path, 0, port) eq \"y\"",
        "substring(path, -2) eq \"x\" or substring(path, 0, port) eq \"y\"",
    ),
    ("len(path) gt 3 and len(names) in {1..3}", "len(path) gt 3 and len(names) in {1..3}"),
    ("split(path, \"/\", 3)[1] eq \"x\"", "split(path, \"/\", 3)[1] eq \"x\""),
    ("join(names, \",\") eq \"x\"", "join(names, \",\") eq \"x\""),
    ("lookup_json_string(path, \"a\", 0, \"b\") eq \"x\"", "lookup_json_string(path, \"a\", 0, \"b\") eq \"x\""),
    ("to_string(ssl) eq \"true\" or to_string(10.0.0.1) eq to", ""),
    ("to_string((ssl and ssl)) eq \"true\"", "to_string((ssl and ssl)) eq \"true\""),
    ("to_string(port eq 1) eq \"true\"", "to_string(port eq 1) eq \"true\""),
    (
        "to_string(10.0.0.1) eq \"x\" and to_string(::1) eq \"y\" and to_string(-1) eq \"z\"",
        "to_string(10.0.0.1) eq \"x\" and to_string(::1) eq \"y\" and to_string(-1) eq \"z\"",
    ),
    (
        "is_timed_hmac_valid_v0(\"key\", path, 100, port, 1, \"s\")",
        "is_timed_hmac_valid_v0(\"key\", path, 100, port, 1, \"s\")",
    ),
    ("lower(ab) eq \"x\"", "lower(ab) eq \"x\""),
    ("wildcard_replace(path, \"/*\", \"/x/${1}\") eq \"y\"", "wildcard_replace(path, \"/*\", \"/x/${1}\") eq \"y\""),
    ("true", "true"),
];

#[test]
fn every_production_is_read() {
    for (source, expected) in ACCEPTED.iter().filter(|(_, expected)| !expected.is_empty()) {
        assert_eq!(canonical(source), *expected, "{source}");
    }
}

#[test]
fn canonical_texts_and_layouts_are_fixed_points_with_the_same_tree() {
    let options = FilterOptions::default();
    for (source, _) in ACCEPTED.iter().filter(|(_, expected)| !expected.is_empty()) {
        let (once, tree) = (canonical(source), json(source));
        assert_eq!(canonical(&once), once);
        assert_eq!(json(&once), tree, "{source}");
        for width in [0, 20, 80] {
            let formatted = format_filter(source, &scheme(), &options, width).unwrap();
            assert_eq!(format_filter(&formatted, &scheme(), &options, width).unwrap(), formatted);
            assert_eq!(json(&formatted), tree, "{source}");
        }
    }
}

#[test]
fn the_rest_is_not() {
    for (source, _) in ACCEPTED.iter().filter(|(_, expected)| expected.is_empty()) {
        assert!(check(source, &FilterOptions::default()).is_err(), "{source}");
    }
}

#[test]
fn trees_have_the_json_of_wirefilter() {
    let cases = [
        ("http.host eq \"a\\\"\"", r#"{"lhs":"http.host","op":"Equal","rhs":"a\""}"#),
        ("http.host ne 61:62", r#"{"lhs":"http.host","op":"NotEqual","rhs":[97,98]}"#),
        ("path eq \"\\xff\"", r#"{"lhs":"path","op":"Equal","rhs":[255]}"#),
        ("port ge 1", r#"{"lhs":"port","op":"GreaterThanEqual","rhs":1}"#),
        ("port le 1", r#"{"lhs":"port","op":"LessThanEqual","rhs":1}"#),
        ("port gt 1", r#"{"lhs":"port","op":"GreaterThan","rhs":1}"#),
        ("port lt 1", r#"{"lhs":"port","op":"LessThan","rhs":1}"#),
        ("port & 1", r#"{"lhs":"port","op":"BitwiseAnd","rhs":1}"#),
        ("path contains \"x\"", r#"{"lhs":"path","op":"Contains","rhs":"x"}"#),
        ("path ~ \"x.\"", r#"{"lhs":"path","op":"Matches","rhs":"x."}"#),
        ("path wildcard \"x*\"", r#"{"lhs":"path","op":"Wildcard","rhs":"x*"}"#),
        ("path strict wildcard \"x*\"", r#"{"lhs":"path","op":"Strict Wildcard","rhs":"x*"}"#),
        ("ip in $bad", r#"{"lhs":"ip","op":"InList","rhs":"bad"}"#),
        ("port in {1 2..3}", r#"{"lhs":"port","op":"OneOf","rhs":[{"start":1,"end":1},{"start":2,"end":3}]}"#),
        (
            "ip in {10.0.0.0/8 ::1 ::1..::2}",
            r#"{"lhs":"ip","op":"OneOf","rhs":["10.0.0.0/8","::1",{"start":"::1","end":"::2"}]}"#,
        ),
        ("ip eq ::1", r#"{"lhs":"ip","op":"Equal","rhs":"::1"}"#),
        ("(ssl)", r#"{"lhs":"ssl","op":"IsTrue"}"#),
        ("not ssl", r#"{"op":"Not","arg":{"lhs":"ssl","op":"IsTrue"}}"#),
        (
            "ssl and ssl and ssl",
            r#"{"op":"And","items":[{"lhs":"ssl","op":"IsTrue"},{"lhs":"ssl","op":"IsTrue"},{"lhs":"ssl","op":"IsTrue"}]}"#,
        ),
        (
            "any(headers[\"a\"][*] eq \"b\")",
            r#"{"op":"Any","arg":{"kind":"SimpleExpr","value":{"lhs":["headers",{"kind":"MapKey","value":"a"},{"kind":"MapEach"}],"op":"Equal","rhs":"b"}}}"#,
        ),
        ("all(flags)", r#"{"op":"All","arg":{"kind":"IndexExpr","value":"flags"}}"#),
        (
            "substring(names[0], 1) eq \"b\"",
            r#"{"lhs":{"name":"substring","args":[{"kind":"IndexExpr","value":["names",{"kind":"ArrayIndex","value":0}]},{"kind":"Literal","value":1}]},"op":"Equal","rhs":"b"}"#,
        ),
    ];
    for (source, expected) in cases {
        assert_eq!(json(source), expected, "{source}");
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
