//! CEL, the Common Expression Language: text to a checked tree and back.
mod check;
mod format;
mod language;
mod lexer;
mod notation;
mod parser;
mod quote;
mod unparse;

pub use check::{CHECKER_CODES, RECEIVER, check, define, misdeclared};
pub use format::{FORMAT_CODES, format};
pub use language::Cel;
pub use notation::{FunctionDeclaration, NotationError, Parameter, parse_variables};
pub use parser::{PARSER_CODES, macro_library, parse, parse_with};
pub use unparse::{layout, unparse};
