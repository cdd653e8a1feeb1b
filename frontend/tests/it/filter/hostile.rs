//! Texts made to hurt end in a tree or in diagnostics, on a small stack, in time linear in their length.

use super::scheme;
use celero_frontend::filter::{FilterOptions, check_filter, filter_json, format_filter, unparse_filter};
use celero_frontend::{Limits, Style, render};
use celero_timing::{assert_linear, cpu_time_of};

/// A name and what makes the text of a given size.
type Shape = (&'static str, fn(usize) -> String);

fn shapes() -> Vec<Shape> {
    vec![
        ("parentheses", |n| "(".repeat(n)),
        ("closed parentheses", |n| "(".repeat(n) + "ssl" + &")".repeat(n)),
        ("not", |n| "not".repeat(n) + " ssl"),
        ("signs", |n| "!".repeat(n)),
        ("calls", |n| "lower(".repeat(n)),
        ("calls by hexadecimal names", |n| "ab(".repeat(n)),
        ("quantifiers", |n| "any(".repeat(n)),
        ("closers", |n| ")]}".repeat(n)),
        ("and", |n| "ssl".to_owned() + &" and ssl".repeat(n)),
        ("all connectives", |n| "ssl".to_owned() + &" or ssl xor ssl and ssl".repeat(n)),
        ("wrong conditions", |n| "sl and ".repeat(n)),
        ("wrong brackets", |n| "ssl and (sl ( sl ) and ".repeat(n)),
        ("indexes", |n| "names".to_owned() + &"[*]".repeat(n)),
        ("open brackets", |n| "names[".repeat(n)),
        ("numbers", |n| "port in {".to_owned() + &"1 ".repeat(n) + "}"),
        ("addresses", |n| "ip in {".to_owned() + &"10.0.0.0/8 ".repeat(n) + "}"),
        ("strings", |n| "path in {".to_owned() + &"\"a\"".repeat(n) + "}"),
        ("wrong items", |n| "port in {".to_owned() + &"a,".repeat(n) + "}"),
        ("unclosed set", |n| "port in {".to_owned() + &"1 ".repeat(n)),
        ("long string", |n| "path eq \"".to_owned() + &"\\x41".repeat(n) + "\""),
        ("unclosed string", |n| "path eq \"".to_owned() + &"a".repeat(n)),
        ("quotes in a raw string", |n| "path eq r##\"".to_owned() + &"\"#".repeat(n) + "\"##"),
        ("quotes in an unclosed raw string", |n| "path eq r##\"".to_owned() + &"\"#".repeat(n)),
        ("hashes", |n| "path eq r".to_owned() + &"#".repeat(n)),
        ("bytes", |n| "path eq 00".to_owned() + &":00".repeat(n)),
        ("digits", |n| "port eq 1".to_owned() + &"0".repeat(n)),
        ("address characters", |n| "ip eq 1".to_owned() + &".1".repeat(n)),
        ("name", |n| "a".repeat(n)),
        ("segments", |n| "a".to_owned() + &".a".repeat(n)),
        ("list name", |n| "ip in $".to_owned() + &"a".repeat(n)),
        ("stars", |n| "path wildcard \"".to_owned() + &"*a".repeat(n) + "\""),
        ("classes", |n| "path matches \"".to_owned() + &"[a]".repeat(n) + "\""),
        ("groups", |n| "path matches \"".to_owned() + &"(".repeat(n) + "\""),
        ("arguments", |n| "concat(path".to_owned() + &",\"a\"".repeat(n) + ") eq \"\""),
        ("wrong arguments", |n| "concat(".to_owned() + &"@,".repeat(n) + ")"),
        ("blanks", |n| " ".repeat(n) + "ssl" + &"\n".repeat(n)),
        ("tabs", |n| "ssl".to_owned() + &"\t".repeat(n) + "and ssl"),
        ("other characters", |n| "\u{202e}é".repeat(n)),
    ]
}

fn run(text: &str, strict: bool) {
    let limits = Limits { max_source_bytes: u32::MAX, max_nodes: u32::MAX, ..Limits::default() };
    let options = FilterOptions { limits, strict, ..FilterOptions::default() };
    let scheme = scheme();
    match check_filter(text, &scheme, &options) {
        Ok((tree, _)) => {
            let flat = unparse_filter(&tree);
            assert!(!filter_json(&tree).is_empty());
            let formatted = format_filter(text, &scheme, &options, 40).unwrap();
            assert_eq!(unparse_filter(&check_filter(&formatted, &scheme, &options).unwrap().0), flat);
        }
        Err(errors) => {
            assert!(!errors.is_empty() && errors.len() <= 16);
            for error in &errors {
                assert!(error.span.start <= error.span.end && error.span.end as usize <= text.len());
                assert!(
                    text.is_char_boundary(error.span.start as usize) && text.is_char_boundary(error.span.end as usize)
                );
            }
            assert!(!render(text, "rule", &errors, Style::Plain).is_empty());
        }
    }
}

#[test]
fn hostile_texts_end_on_a_small_stack() {
    std::thread::Builder::new()
        .stack_size(256 * 1024)
        .spawn(|| {
            for (_, shape) in shapes() {
                for size in [0, 1, 2, 127, 128, 129, 5000] {
                    run(&shape(size), false);
                    run(&shape(size), true);
                }
            }
        })
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn the_time_is_linear_in_the_text() {
    for (name, shape) in shapes() {
        assert_linear(name, [16_000, 64_000], |size| {
            let text = shape(size);
            cpu_time_of(|| run(&text, true))
        });
    }
}

#[test]
fn every_prefix_and_every_cut_of_a_rule_ends() {
    let rule = "(http.host eq r#\"a\"# or any(lower(names[*])[*] in {\"a\" 61:62})) and not ip in {10.0.0.0/8 ::1..::2} \
                xor path matches \"[\\\"]é\\d\" and headers[\"x\"][0] wildcard \"*\\\\*\" or cidr(ip, 24, 48) eq ::1";
    run(rule, true);
    for (at, _) in rule.char_indices() {
        run(&rule[..at], true);
        run(&rule[at..], true);
        let mut cut = rule.to_owned();
        cut.remove(at);
        run(&cut, true);
    }
}
