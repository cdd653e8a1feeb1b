//! Compares what the gate decides with what engines return, and counts its work on texts that are made for it.

use super::gate::{Gate, Task};
use super::required_literals::Gated;
use super::{PatternMatch, PatternSet};
use crate::MemoryBudget;
use crate::pattern::{Matcher, parse, reduce};

fn gate(patterns: &[&str]) -> Gate {
    let parsed = patterns.iter().map(|pattern| parse(pattern).unwrap());
    let gated = (0..).zip(parsed).filter_map(|(id, parsed)| Gated::new(id, &parsed, reduce(&parsed).as_ref()));
    Gate::new(&gated.collect::<Vec<_>>(), patterns.len()).unwrap()
}

/// What a lookup does for each pattern.
fn tasks(patterns: &[&str], text: &str) -> Vec<(u32, Task)> {
    let mut tasks = Vec::new();
    let gate = gate(patterns);
    gate.search(text.as_bytes(), &mut gate.nothing_found(text.len()), |id, task| tasks.push((id, task)));
    tasks
}

#[test]
fn patterns_that_are_literals_need_no_search() {
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
}

#[test]
fn long_texts_are_searched_where_literals_are() {
    let dots = ".".repeat(90);
    let near = |pattern: &str, text: &str| {
        let mut tasks = Vec::new();
        let gate = gate(&[pattern]);
        let mut found = gate.nothing_found(text.len());
        gate.search(text.as_bytes(), &mut found, |_, task| tasks.push(task));
        (tasks, found.all_near().next())
    };
    // In parts of 32 bytes.
    let text = format!("{dots}select1{dots}xselect2{dots}");
    assert_eq!(near(r"\bselect[0-9]{1,80}x", &text), (vec![], Some((0, 1 << 2 | 1 << 5))));
    // Searching for a small pattern is no work.
    assert_eq!(near(r"\bselect[0-9]{1,2}", &text), (vec![Task::Search], None));
    // Literals are almost everywhere.
    let text = "a select 1 ".repeat(40);
    assert_eq!(near(r"\bselect[0-9]", &text), (vec![], None));
    assert_eq!(near(r"\bselect\b", &text), (vec![Task::Search], None));
    assert_eq!(near("select", &text), (vec![Task::Match], None));
}

#[test]
fn the_gate_answers_as_engines_do() {
    let patterns = [
        "ab[0-9]{1,90}s",
        r"\bab\b",
        r"\bab[0-9]?(?:x{60})?\b",
        "(?i)kab?s[a-z ]{1,50}",
        "ab.{0,60}ss",
        "^ab",
        "ab$",
        "[ab]bs1",
        "(?i)skb",
        "(?i)ab[k-s]{2}",
        "ab(?:1|22|s|x{70})",
        "1ab|s1ab+1",
        "(?m)^ab1[ab]{0,70}s",
        "ab1*",
        "^(?:ab1|ks)$",
        r"ab\B",
        "sab{2,9}k",
        "k[x.]*ab[0-9]+(?:x{70})?s",
        " -*ab(?:k{70})?.*ks",
        r"\n[^b]*bs1(?:a{70})?b",
        r"\bs[ab]{2,70}1\b",
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
        let part = |random: &mut fastrand::Rng, most| -> String {
            (0..random.usize(0..most)).map(|_| letters[random.usize(0..letters.len())]).collect()
        };
        let mut text = part(&mut random, 160);
        // Long texts are searched in parts.
        for _ in 0..random.usize(0..4) {
            text += &random.choice(["x", ".", " ", "-\n", "ba"]).unwrap_or_default().repeat(random.usize(50..600));
            text += &part(&mut random, 20);
        }
        let mut answers = vec![None; patterns.len()];
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

/// Many patterns with a literal in common, on a text that is full of it, and texts that repeat two
/// literals in turns: each pattern is soon searched for in the whole text, once.
#[test]
fn visits_are_bounded() {
    let patterns: Vec<String> = (0..400)
        .map(|n| match n % 4 {
            0 => format!("select[^x]{{1,{}}}x", n + 1),
            1 => format!("^select{n}|select[0-9]{n}$"),
            2 => format!("(?i)union[^y]{{{}}}y", n + 1),
            _ => format!("from.*x{n}"),
        })
        .collect();
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    for (piece, least) in
        [("select", 100), ("select1", 100), ("selectunion1", 200), ("union1from", 120), ("sselect", 100)]
    {
        let mut found: Vec<u32> = tasks(&patterns, &piece.repeat(4_000)).into_iter().map(|(id, _)| id).collect();
        let visits = found.len();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), visits, "{piece}: visited again");
        assert!(visits >= least, "{piece}: {visits} visits");
    }
}
