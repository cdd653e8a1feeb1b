//! Errors: several at once, how they are shown, bounds. `tests/filetests/filter/errors/` has every error and warning.

use super::{check, scheme};
use celero_frontend::filter::{FilterOptions, check_filter, wirefilter_error};
use celero_frontend::{Limits, Stage, Style, render};

fn messages(source: &str) -> Vec<String> {
    check(source, &FilterOptions::default()).unwrap_err().into_iter().map(|error| error.message).collect()
}

#[test]
fn all_errors_are_reported_at_once() {
    assert_eq!(
        messages("hst eq \"x\" and port eq 09 or (ip in {1: 2.2.2.2 /} xor path contains \"\\n\") and ssl"),
        [
            "unknown identifier",
            "invalid digit found in string while parsing with radix 8",
            "couldn't parse address in network: invalid IP address syntax",
            "couldn't parse address in network: invalid IP address syntax",
            "expected \", xHH or OOO after \\",
        ]
    );
    assert_eq!(
        messages("concat(nme, pth, \"a\", 5) eq \"a and b\" and lower(port) eq \"c\" && prt eq 1"),
        [
            "unknown identifier",
            "unknown identifier",
            "invalid type of argument #0: expected value of type Bytes, but got Int",
            "unknown identifier",
        ]
    );
    // A string that is not closed ends everything.
    assert_eq!(
        messages("prt eq 1 and path eq \"abc and prt eq 1"),
        ["unknown identifier", "could not find an ending quote"]
    );
    let many = vec!["prt eq 1"; 50].join(" and ");
    assert_eq!(messages(&many).len(), 16);
}

#[test]
fn errors_are_shown_with_carets() {
    let source = "ssl and\n  http.hots eq \"a\"";
    let errors = check(source, &FilterOptions::default()).unwrap_err();
    let text = render(source, "rule", &errors, Style::Plain);
    assert_eq!(
        text,
        "error[filter-unknown-identifier]: unknown identifier\n --> rule:2:3\n  |\n2 |   http.hots eq \"a\"\n  |   ^^^^^^^^^\n  \
         = help: did you mean `http.host`?\n"
    );
    assert_eq!(
        wirefilter_error(source, &errors[0]),
        "Filter parsing error (2:3):\n  http.hots eq \"a\"\n  ^^^^^^^^^ unknown identifier\n"
    );
}

#[test]
fn bounds_are_reported() {
    let limits = Limits { max_source_bytes: 10, ..Limits::default() };
    let errors = check("ssl and ssl", &FilterOptions { limits, ..FilterOptions::default() }).unwrap_err();
    assert_eq!(errors[0].code, "filter-source-too-long");
    let limits = Limits { max_nodes: 6, ..Limits::default() };
    let options = FilterOptions { limits, ..FilterOptions::default() };
    for source in
        ["ssl and ssl and ssl and ssl", "port in {1 2 3 4 5 6}", "concat(path, \"a\", \"b\", \"c\", \"d\") eq \"\""]
    {
        assert_eq!(check(source, &options).unwrap_err()[0].code, "filter-too-many-nodes", "{source}");
    }
    let stars = FilterOptions { max_wildcard_stars: Some(3), ..FilterOptions::default() };
    assert!(check("path wildcard \"*_*_*\"", &stars).is_ok());
    assert_eq!(
        check("path wildcard \"*_*_*_*\"", &stars).unwrap_err()[0].message,
        "wildcard has 4 star metacharacters, but the limit is 3"
    );
    let twice = "regex_replace(path, \"a\", \"\") eq \"\" or regex_replace(path, \"b\", \"\") eq \"\"";
    assert!(check(twice, &FilterOptions::default()).is_ok());
    let bound = FilterOptions { bound_calls: true, ..FilterOptions::default() };
    let errors = check(twice, &bound).unwrap_err();
    assert_eq!((errors.len(), errors[0].code), (1, "filter-once"));
}

#[test]
fn nesting_is_bounded() {
    let deep = |open: &str, inner: &str, close: &str, n: usize| open.repeat(n) + inner + &close.repeat(n);
    for (open, inner, close) in [("(", "ssl", ")"), ("not ", "ssl", ""), ("!(", "ssl", ")"), ("lower(", "path", ")")] {
        let levels = if open == "!(" { 64 } else { 128 };
        let tail = if open == "lower(" { " eq \"a\"" } else { "" };
        assert!(check(&(deep(open, inner, close, levels) + tail), &FilterOptions::default()).is_ok(), "{open}");
        let errors = check(&(deep(open, inner, close, levels + 1) + tail), &FilterOptions::default()).unwrap_err();
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].message, "maximum nesting depth exceeded (limit: 128)");
        assert_eq!(errors[0].stage, Stage::Limit);
    }
    let options = FilterOptions { max_nesting: 2, ..FilterOptions::default() };
    let errors = check_filter("lower ( lower ( lower ( path ) ) ) eq \"a\"", &scheme(), &options).unwrap_err();
    assert_eq!(errors[0].span.start, 22);
}

/// Walks reserve stack by the depth: a short rule must not make them ask for a new stack.
#[test]
fn the_depth_of_a_tree_is_about_its_nesting() {
    let depth = |source: &str| super::tree(source).depth();
    assert!(depth("ssl") < 16 && depth("not (ssl or lower(path) eq \"a\") and any(flags)") < 48);
    assert!(depth(&("(".repeat(128) + "ssl" + &")".repeat(128))) >= 128);
}

#[test]
fn an_operator_that_is_called_is_explained() {
    let errors = check("contains(http.host, \"a\")", &FilterOptions::default()).unwrap_err();
    assert_eq!(errors[0].help, ["`contains` is an operator, not a function: `VALUE contains ..`"]);
}
