//! `celero fmt`.

use crate::support::{celero, celero_reading, file};

#[test]
fn fmt_rewrites_or_checks() {
    let path = file("fmt.cel", "// Who may.\n(a)&&b=='c'");
    let formatted = "// Who may.\na && b == \"c\"\n";
    let run = celero(&["fmt", "--check", &path]);
    assert_eq!((run.code, run.out), (1, format!("{path}: not formatted\n")));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "// Who may.\n(a)&&b=='c'");
    let run = celero(&["fmt", &path]);
    assert_eq!((run.code, run.out.as_str()), (0, ""));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), formatted);
    assert_eq!(celero(&["fmt", "--check", &path]).code, 0);

    let run = celero_reading(&["fmt", "-"], b"1+1");
    assert_eq!((run.code, run.out.as_str()), (0, "1 + 1\n"));
    assert_eq!(celero(&["fmt", "--expr", "-(1)"]).out, "-(1)\n");
    assert_eq!(celero(&["fmt", "--check", "--expr", "a  && b"]).code, 1);
    assert_eq!(celero(&["fmt", "--check", "--expr", "a && b"]).code, 0);
    assert_eq!(celero(&["fmt"]).code, 2);

    let path = file("lost.cel", "a // why\n&& b");
    let run = celero(&["fmt", &path]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("lost.cel:1:3") && run.err.contains("would be lost"), "{}", run.err);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "a // why\n&& b");
}
