//! Literals and operators as CEL writes them.

use celero_frontend::filter::OrderOp;

pub(super) fn operator(op: OrderOp) -> &'static str {
    match op {
        OrderOp::Equal => "==",
        OrderOp::NotEqual => "!=",
        OrderOp::GreaterEqual => ">=",
        OrderOp::LessEqual => "<=",
        OrderOp::Greater => ">",
        OrderOp::Less => "<",
    }
}

pub(super) fn int(number: i64) -> String {
    number.to_string()
}

/// A string literal.
pub(super) fn quoted(text: &str) -> String {
    let mut literal = "\"".to_owned();
    for letter in text.chars() {
        match letter {
            '"' | '\\' => literal.extend(['\\', letter]),
            _ if letter.is_control() => literal.push_str(&format!("\\u{:04x}", u32::from(letter))),
            _ => literal.push(letter),
        }
    }
    literal.push('"');
    literal
}
