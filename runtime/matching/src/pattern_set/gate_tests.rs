//! Compares what the gate decides with what engines return, and counts its work on texts that are made for it.

use super::gate::{Gate, Task};
use super::required_literals::Gated;
use super::{PatternMatch, PatternSet};
use crate::MemoryBudget;
use crate::pattern::{Matcher, parse, reduce};

fn gate(patterns: &[&str]) -> Gate {
    let gated = (0..)
        .zip(patterns)
        .filter_map(|(id, pattern)| Gated::new(id, pattern, reduce(&parse(pattern).unwrap()).as_ref()));
    Gate::new(&gated.collect::<Vec<_>>(), patterns.len()).unwrap()
}

/// What a lookup does for each pattern, if all searches find nothing.
fn tasks(patterns: &[&str], text: &str) -> Vec<(u32, Task)> {
    let gate = gate(patterns);
    let (mut marks, mut found) = (gate.marks(), Vec::new());
    gate.search(text.as_bytes(), &mut marks, |owner, task, decided| {
        if !matches!(task, Task::SearchIn { .. }) {
            decided.insert(owner.id);
        }
        found.push((owner.id, task));
    });
    found
}

#[test]
fn patterns_that_are_literals_need_no_search() {
    let long = "x".repeat(60);
    for (pattern, text, want) in [
        ("Googlebot", "the Googlebot/2.1", vec![Task::Match]),
        ("Googlebot", "the googlebot/2.1", vec![]),
        ("[gG]ooglebot", "a Googlebot, a googlebot", vec![Task::Match]),
        ("foo|bar(?:baz|qux)", "a barqux", vec![Task::Match]),
        ("(?i)union", "x UNION y", vec![Task::Match]),
        ("(?i)(?:drop|alter) table", "Alter Table", vec![Task::Match]),
        ("^/admin", "/admin/x", vec![Task::Match]),
        ("^/admin", "/x/admin", vec![]),
        (r"\.php$", "a.php", vec![Task::Match]),
        ("^(?:GET|PUT)$", "PUT", vec![Task::Match]),
        (r"\bselect\b", "a select b", vec![Task::Search]),
        ("eval[(].*x", "eval(", vec![Task::Search]),
    ] {
        let found: Vec<Task> = tasks(&[pattern], text).into_iter().map(|(_, task)| task).collect();
        assert_eq!(found, want, "{pattern} {text}");
    }
    let text = format!("{long}select1{long}");
    // The ten literals `select0` to `select9`.
    let window = Task::SearchIn { window: 59..68, looks: true };
    assert_eq!(tasks(&[r"\bselect[0-9]{1,2}"], &text), [(0, window)]);
}

#[test]
fn the_gate_answers_as_engines_do() {
    let patterns = [
        "ab[0-9]{1,3}s",
        r"\bab\b",
        r"\bab[0-9]?\b",
        "(?i)kab?s[a-z ]",
        "ab.{0,4}ss",
        "^ab",
        "ab$",
        "[ab]bs1",
        "(?i)skb",
        "(?i)ab[k-s]{2}",
        "ab(?:1|22|s)",
        "1ab|s1ab+1",
        "(?m)^ab1",
        "ab1*",
        "^(?:ab1|ks)$",
        r"ab\B",
        "sab{2,9}k",
    ];
    let matchers = patterns.map(|pattern| Matcher::new(pattern).unwrap());
    let set = PatternSet::new(&patterns, 0, &MemoryBudget::default());
    let mut random = fastrand::Rng::with_seed(5);
    let (mut matches, mut others) = (0, 0);
    for round in 0..4_000 {
        let letters: &[char] = match round % 3 {
            0 => &['a', 'b', '1', 's', ' ', 'k', '\n'],
            1 => &['a', 'b', 'A', 'B', 'K', 's', '2', ' ', ' ', 'x', 'x', 'x', '.', '-', '_'],
            _ => &['a', 'b', '1', 's', 'é', '\u{212A}', 'k', ' '],
        };
        let text: String = (0..random.usize(0..160)).map(|_| letters[random.usize(0..letters.len())]).collect();
        let mut answers = [None; 17];
        set.for_each(&text, |id, answer| assert_eq!(answers[id as usize].replace(answer), None, "reported twice"));
        for ((pattern, matcher), answer) in patterns.iter().zip(&matchers).zip(answers) {
            let want = matcher.is_match(&text).unwrap();
            match answer {
                Some(PatternMatch::Possible) => assert!(!text.is_ascii(), "{pattern} {text:?}"),
                answer => assert_eq!(answer.is_some(), want, "{pattern} {text:?}"),
            }
            *if want { &mut matches } else { &mut others } += 1;
        }
    }
    assert!(matches > 5_000 && others > 20_000, "{matches} {others}");
}

/// Many patterns with a literal in common, on a text that is full of it, and texts that repeat two literals in turns.
#[test]
fn windows_and_visits_are_bounded() {
    let patterns: Vec<String> = (0..400)
        .map(|n| match n % 4 {
            0 => format!("select[0-9]{{1,{}}}x", n + 1),
            1 => format!("^select{n}|select[0-9]{n}$"),
            2 => format!("(?i)union[0-9]{n}y"),
            _ => format!("from.*x{n}"),
        })
        .collect();
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    for piece in ["select", "select1", "selectunion1", "union1from", "selectfrom", "sselect"] {
        let text = piece.repeat(4_000);
        let found = tasks(&patterns, &text);
        let windows: usize =
            found.iter().map(|(_, task)| if let Task::SearchIn { window, .. } = task { window.len() } else { 0 }).sum();
        let visits = found.len();
        assert!(windows <= 4 * text.len() + 4_096, "{piece}: {windows} bytes");
        assert!(visits <= text.len() + patterns.len() * 4, "{piece}: {visits} visits");
    }
}
