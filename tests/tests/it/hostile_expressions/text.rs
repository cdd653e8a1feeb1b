//! Random text, and text that breaks other parsers, ends in a program or in diagnostics.

use super::*;
use celero_tests::generate::Rng;

/// What breaks other parsers: 94 and 125 bytes, doubled signs, nothing at all.
#[test]
fn known_breakers_end() {
    const LONG: &str = "a && (i in [1, 2, 3] ? {'k': [i, -2]}['k'][0] == 1 : s.matches('^a{2,3}\\\\d')) || \
        [1, 2].exists(x, x > 1 && m.?k[?'z'].orValue(1) == 2) || !has(m.k) && 0x1Fu >= 2u && b'\\xff' != b'' && \
        cel.bind(t, '''x''' + r\"\\\", t.size() > 1e3 ? false : timestamp('2024-01-01T00:00:00Z') > timestamp(0)) // end";
    small_stack(|| {
        let mut sources: Vec<String> =
            ["", " ", "1 +", "in", "x.in", "f(1,)", "'\\z'", "变量", "1 /* c */", "\0", "\u{feff}1"]
                .map(String::from)
                .into();
        let motif = "!!(!!!!!!(!!!!(((((!!(!!(!!!!((";
        sources.extend([3, 4].map(|n| motif.repeat(n)));
        sources.push("!!(".repeat(20) + "a" + &")".repeat(20));
        for (at, _) in LONG.char_indices() {
            let (before, after) = LONG.split_at(at);
            sources.push(before.to_owned());
            sources.push(after.to_owned());
        }
        assert!(engine(Tier::Native).compile(&env(), LONG).is_ok(), "{:?}", engine(Tier::Native).compile(&env(), LONG));
        let mut rows = Vec::new();
        for tier in TIERS {
            let engine = engine(tier);
            rows.extend(sources.iter().map(|source| try_out(&engine, tier, source, source)));
        }
        print_slowest("breakers", rows);
    });
}

#[test]
fn random_text_ends() {
    const WORDS: &[&str] = &[
        "a",
        "i",
        "s",
        "m",
        "d",
        "1",
        "1u",
        "1.5",
        "'x'",
        "b'x'",
        "true",
        "null",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "?",
        ".",
        ".?",
        "[?",
        "+",
        "-",
        "*",
        "/",
        "%",
        "!",
        "&&",
        "||",
        "==",
        "<",
        " in ",
        ".map(x,",
        ".all(x,",
        ".exists(k,v,",
        "size(",
        "has(",
        "cel.bind(y,",
        "optional.of(",
        ".orValue(",
        "x",
        "y",
        " ",
        "\n",
        "//",
        "\"",
        "'",
        "`",
        "\\",
        "é",
    ];
    small_stack(|| {
        let mut rng = Rng::new(0x9e37_79b9);
        let mut random = move |below: usize| rng.below(below);
        let engines = TIERS.map(|tier| (tier, engine(tier)));
        let mut rows = Vec::new();
        for round in 0..1500 {
            let length = random(60) + 1;
            let source = if round % 3 == 0 {
                let bytes: Vec<u8> = (0..length).map(|_| random(256) as u8).collect();
                String::from_utf8_lossy(&bytes).into_owned()
            } else {
                (0..length).map(|_| *WORDS.get(random(WORDS.len())).unwrap()).collect()
            };
            for (tier, engine) in &engines {
                rows.push(try_out(engine, *tier, &source, &source));
            }
        }
        print_slowest("random text", rows);
    });
}
