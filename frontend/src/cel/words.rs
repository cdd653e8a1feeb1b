//! The words of CEL that are not plain names: one table of keywords and reserved words (language definition, "Syntax").

/// Words that are never identifiers.
pub const KEYWORDS: [&str; 4] = ["false", "in", "null", "true"];

macro_rules! reserved {
    ($($word:literal)*) => {
        /// Reserved words: fields and methods may have such a name, variables and functions may not.
        pub const RESERVED: &[&str] = &[$($word),*];

        /// Whether a word is one of [`RESERVED`].
        pub(super) fn is_reserved(word: &str) -> bool {
            matches!(word, $($word)|*)
        }
    };
}

reserved! {
    "as" "break" "const" "continue" "else" "for" "function" "if" "import" "let" "loop" "package" "namespace" "return" "var"
    "void" "while"
}
