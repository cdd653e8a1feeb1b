//! Classes of Unicode by name, and other letter cases.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};
use std::sync::OnceLock;

/// Names of scripts that have four letters. Other names of four letters are aliases, which RE2 does not know.
const SHORT_SCRIPTS: &[&str] = &["ahom", "cham", "kawi", "lisu", "miao", "modi", "newa", "thai", "toto"];
/// Characters whose cases are looked up without finding out first which of them have some.
const FEW: usize = 64;
/// Length of the aliases of scripts.
const ALIAS: usize = 4;

/// Returns the class of a category, a script, or `Any`, `Assigned` or `ASCII`. Letter case, `_`,
/// `-` and spaces make no difference.
pub(super) fn named(name: &str) -> Option<ClassUnicode> {
    let mut key = String::new();
    for c in name.chars() {
        match c {
            ' ' | '-' | '_' => {}
            letter if letter.is_ascii_alphabetic() => key.push(letter.to_ascii_lowercase()),
            _ => return None,
        }
    }
    match &*key {
        "" => None,
        // A text has no surrogates.
        "cs" | "surrogate" => Some(ClassUnicode::empty()),
        // The tables skip this beginning of a name.
        key if key.starts_with("is") => None,
        key => property("gc", key).or_else(|| {
            let is_name = key.len() != ALIAS || SHORT_SCRIPTS.contains(&key);
            is_name.then(|| property("sc", key)).flatten()
        }),
    }
}

/// The class of all characters whose property has a value.
fn property(property: &str, value: &str) -> Option<ClassUnicode> {
    let hir = regex_syntax::Parser::new().parse(&format!(r"\p{{{property}={value}}}")).ok()?;
    match hir.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        // Of one character.
        HirKind::Literal(literal) => {
            let ranges = std::str::from_utf8(&literal.0).ok()?.chars().map(|c| ClassUnicodeRange::new(c, c));
            Some(ClassUnicode::new(ranges))
        }
        _ => None,
    }
}

/// Adds the other letter cases of its characters, of which there are so many, to a class.
pub(super) fn fold(class: &mut ClassUnicode, characters: usize) {
    let mut own = class.clone();
    if characters > FEW {
        let all = cased();
        own.intersect(all);
        // All letters have all cases.
        if own.ranges() == all.ranges() {
            return;
        }
    }
    // Without tables of letter cases there is nothing to add.
    if own.try_case_fold_simple().is_ok() {
        class.union(&own);
    }
}

/// All characters that may have other letter cases. Looking up the cases of any other character would be in vain.
fn cased() -> &'static ClassUnicode {
    static CASED: OnceLock<ClassUnicode> = OnceLock::new();
    CASED.get_or_init(|| {
        let mut all = ClassUnicode::empty();
        for name in ["Cased", "CWCM", "CWCF"] {
            let found = regex_syntax::Parser::new().parse(&format!(r"\p{{{name}}}"));
            if let Ok(HirKind::Class(Class::Unicode(class))) = found.map(regex_syntax::hir::Hir::into_kind) {
                all.union(&class);
            }
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_with_another_case_is_known() {
        let assigned = named("Assigned").unwrap();
        let of = |c: char| {
            let mut class = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
            class.try_case_fold_simple().unwrap();
            class
        };
        let known = |c: char| cased().ranges().iter().any(|range| range.start() <= c && c <= range.end());
        let mut others = ClassUnicode::empty();
        others.union(&assigned);
        others.difference(cased());
        let mut count = 0;
        for range in others.ranges() {
            for c in range.start()..=range.end() {
                assert_eq!(of(c).ranges().len(), 1, "{c:?}");
                assert_eq!(of(c).ranges().first().map(|range| range.len()), Some(1), "{c:?}");
                count += 1;
            }
        }
        assert!(count > 100_000 && known('K') && known('\u{212A}') && !known('1'));
    }

    #[test]
    fn names_are_those_of_re2() {
        for name in [
            "L",
            "Lu",
            "lc",
            "Letter",
            "ASCII",
            "Any",
            "Assigned",
            "Greek",
            "greek",
            "Old_Italic",
            "Thai",
            "Nd",
            "Zl",
            " L_",
        ] {
            assert!(named(name).is_some_and(|class| !class.ranges().is_empty()), "{name}");
        }
        assert_eq!(named("Cs"), Some(ClassUnicode::empty()));
        for name in [
            "",
            "Grek",
            "IsGreek",
            "Emoji",
            "Alphabetic",
            "L&",
            "gc=L",
            "Zyyy",
            "Zzzz",
            "Unknown",
            "é",
            "White_Space",
            "Lé",
        ] {
            assert_eq!(named(name), None, "{name}");
        }
    }
}
