//! The codes of everything lexer and parser can report: one table, from which the catalogue is made.

use crate::diagnostic::{CodeInfo, Diagnostic, Severity, Stage, TOO_DEEP, TOO_MANY_NODES};
use crate::span::Span;

macro_rules! codes {
    ($($variant:ident $code:expr, $stage:ident $summary:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Code { $($variant,)* }

        impl Code {
            fn info(self) -> CodeInfo {
                match self {
                    $(Self::$variant => CodeInfo { code: $code, stage: Stage::$stage, summary: $summary },)*
                }
            }
        }

        /// Every code the parser reports.
        pub const PARSER_CODES: &[CodeInfo] =
            &[$(CodeInfo { code: $code, stage: Stage::$stage, summary: $summary },)*];
    };
}

codes! {
    SourceTooLong "source-too-long", Limit "the source has more bytes than `max_source_bytes`";
    TooDeep TOO_DEEP, Limit "brackets or operators nest deeper than `max_depth`";
    TooManyNodes TOO_MANY_NODES, Limit "the tree has more nodes than `max_nodes`";
    EmptyExpression "empty-expression", Parse "there is nothing but white space and comments";
    UnexpectedToken "unexpected-token", Parse "something else is needed at this place";
    UnexpectedEnd "unexpected-end", Parse "the source ends where more is needed";
    UnclosedBracket "unclosed-bracket", Parse "a bracket is never closed";
    UnmatchedBracket "unmatched-bracket", Parse "a closing bracket has no opening one";
    MismatchedBracket "mismatched-bracket", Parse "a closing bracket is of another kind than the opening one";
    InvalidCharacter "invalid-character", Parse "a character has no meaning in CEL outside strings";
    MisspeltOperator "misspelt-operator", Parse "an operator of another language, such as `=` or `and`";
    BlockComment "block-comment", Parse "`/* */` comments do not exist in CEL";
    UnterminatedString "unterminated-string", Parse "a string, bytes or backquoted name has no closing quote";
    InvalidEscape "invalid-escape", Parse "an escape sequence is malformed or names no character";
    InvalidNumber "invalid-number", Parse "a number literal is malformed";
    NumberOutOfRange "number-out-of-range", Parse "a number literal does not fit its type";
    InvalidQuotedName "invalid-quoted-name", Parse "a backquoted name is empty, holds other characters, or stands where none may";
    ReservedWord "reserved-word", Parse "a reserved word is used as a name";
    MixedSigns "mixed-signs", Parse "`!` and `-` stand directly next to each other";
    NestedConditional "nested-conditional", Parse "a conditional is the middle operand of another without parentheses";
    TrailingComma "trailing-comma", Parse "a call's arguments end in a comma";
    MacroArgument "macro-argument", Parse "an argument of `has` is neither a field selection nor a variable that can be absent, or one of `math.greatest` or `math.least` not a number";
    MacroVariable "macro-variable", Parse "a macro's variable is not a plain name";
    DuplicateVariable "duplicate-variable", Parse "both variables of a macro have the same name";
}

impl Code {
    /// An error with this code.
    pub(crate) fn at(self, span: Span, message: impl Into<String>) -> Diagnostic {
        let CodeInfo { code, stage, .. } = self.info();
        Diagnostic {
            severity: Severity::Error,
            stage,
            code,
            message: message.into(),
            span,
            labels: Vec::new(),
            help: Vec::new(),
        }
    }
}
