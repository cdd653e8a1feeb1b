//! Random patterns, made of everything that patterns are made of, and texts that they often match.
//! Also used by the tests of the workspace.

/// A stream of random choices.
pub(super) struct Random(pub(super) u64);

/// Beginnings of groups.
const OPEN: &[&str] = &[
    "(", "(", "(", "(?:", "(?i:", "(?m:", "(?s:", "(?U:", "(?-u:", "(?R:", "(?mR:", "(?x: ", "(?ix: ", "(?-i:", "(?P<",
    "(?<",
];

#[rustfmt::skip]
const ATOMS: &[&str] = &[
    "a", "b", "a", "b", "ab", "aab", "é", "K", "ß", "_", "1", r"\.", ".", r"\n", r"\xff", r"\x61",
    "^", "$", r"\A", r"\z", r"\b", r"\B", r"\b{start}", r"\b{end-half}", r"(?-u:\b)",
    r"\w", r"\W", r"\s", r"\d", r"\D", r"\pL",
    "[ab]", "[^a]", "[^ab]", "[a-z]", r"[^\s\S]", "[[:alpha:]]", "[[:^digit:]]", "[a-z&&[^b]]", "[^[:punct:]é]", r"[a\]é-]",
    "(?i)", "(?m)", "(?s)", "(?-i)", "", "(?:)", "()", "(?s:.)", "(a|é)", "(|a)", "(b|)", "(?:a||b)", "(?x: a # b\n)",
];

const REPETITIONS: &[&str] =
    &["*", "+", "?", "*?", "+?", "??", "{0}", "{1}", "{2}", "{0,2}", "{1,}", "{2,3}?", "{0,}?", "{3}"];

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    pub(super) fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        let index = self.next().checked_rem(of.len() as u64).unwrap_or(0);
        of.get(index as usize).copied().unwrap_or_default()
    }

    pub(super) fn chance(&mut self, one_in: usize) -> bool {
        self.next().is_multiple_of(one_in as u64)
    }

    pub(super) fn text(&mut self) -> String {
        let length = self.pick(&["", "-", "--", "---", "----", "-----", "------"]).len();
        (0..length)
            .map(|_| {
                self.pick(&["a", "a", "b", "b", "A", "B", "\n", "\r\n", "é", "É", "ß", "K", "k", "_", " ", ".", "1"])
            })
            .collect()
    }

    /// A pattern whose groups nest up to `depth`. It may be wrong.
    pub(super) fn pattern(&mut self, depth: usize) -> String {
        let pattern = self.sequence(depth, &mut 0);
        match self.pick(&["", "", "", "^", "$", "^$", "(?i)^", "(?i)^$"]) {
            "^" => format!("^{pattern}"),
            "$" => format!("{pattern}$"),
            "^$" => format!("^(?:{pattern})$"),
            "(?i)^" => format!("(?i)^{pattern}"),
            "(?i)^$" => format!("(?i)^{pattern}$"),
            _ => pattern,
        }
    }

    /// Parts of a pattern one after the other. `names` counts the groups with names.
    fn sequence(&mut self, depth: usize, names: &mut usize) -> String {
        let mut pattern = String::new();
        for _ in 0..self.pick(&["-", "--", "---", "----"]).len() {
            if depth > 0 && self.chance(4) {
                pattern.push_str(self.pick(OPEN));
                if pattern.ends_with('<') {
                    pattern.push_str(&format!("n{names}>"));
                    *names = names.saturating_add(1);
                }
                pattern.push_str(&self.sequence(depth.saturating_sub(1), names));
                if self.chance(2) {
                    pattern.push('|');
                    pattern.push_str(&self.sequence(0, names));
                }
                pattern.push(')');
            } else if self.chance(6) {
                // A repetition that is repeated.
                let open = self.pick(&["(", "(?:"]);
                let (atom, inner) = (self.pick(ATOMS), self.pick(REPETITIONS));
                pattern.push_str(&format!("{open}{atom}{inner}){}", self.pick(REPETITIONS)));
            } else {
                pattern.push_str(self.pick(ATOMS));
            }
            if self.chance(4) {
                pattern.push_str(self.pick(REPETITIONS));
            }
        }
        pattern
    }
}
