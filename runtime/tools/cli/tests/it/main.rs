//! The `celero` command as people and programs use it.

#![expect(clippy::unwrap_used, clippy::panic, clippy::string_slice, reason = "tests")]

mod bench;
mod book;
mod check_and_explain;
mod code;
mod eval;
mod filter_jsonl;
mod filter_language;
mod formatting;
mod host_declarations;
mod jsonl;
mod lab;
mod language_server;
mod lists;
mod messages;
mod newcomer;
mod policies;
mod rule_files;
mod schema;
mod serve;
mod sessions;
mod static_costs;
mod support;
mod terminal;
mod translate;
mod wrong_input;

use support::celero;

#[test]
fn misuse_exits_with_2() {
    for args in [
        &["eval"][..],
        &["nonsense"],
        &["eval", "-e", "1", "--bindings", "/no/such/file"],
        &["eval", "-e", "1", "--vars", "x: strin"],
        &["eval", "-e", "1", "--vars", "in: int"],
        &["eval", "-e", "1", "--tier", "fast"],
        &["check"],
        &["check", "/no/such/file"],
        &["eval", "-e", "1", "--bindings", "a", "--request", "b"],
    ] {
        let run = celero(args);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{args:?}");
        assert!(!run.err.is_empty(), "{args:?}");
    }
}

#[test]
fn help_teaches() {
    for args in [&["--help"][..], &["eval", "--help"], &["check", "--help"], &["explain", "--help"]] {
        let run = celero(args);
        assert!(run.code == 0 && run.out.contains("Examples:"), "{args:?}: {}", run.out);
    }
}
