//! CEL, the Common Expression Language: text to a checked tree and back.
mod check;
mod foreign;
mod foreign_names;
mod format;
mod language;
mod lexer;
mod lexicon;
mod macros;
mod named_lists;
mod notation;
mod parser;
mod quote;
mod unparse;
mod words;

pub use check::{CHECKER_CODES, RECEIVER, check, common_type, define, misdeclared};
pub use format::{FORMAT_CODES, format};
pub use language::Cel;
pub use macros::{MacroForm, is_macro_name, macro_forms, macro_library};
pub use notation::{FunctionDeclaration, NotationError, Parameter, parse_variables, parse_variables_with};
pub use parser::{PARSER_CODES, parse, parse_with};
pub use quote::{push_escaped, push_escaped_byte, quote_string};
pub use unparse::{layout, unparse, unparse_node};
pub use words::{KEYWORDS, RESERVED};
