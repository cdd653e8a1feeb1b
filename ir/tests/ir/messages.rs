//! Fields of messages, read in one pass.

use crate::passes::{NONE, becomes};
use celero_ir::passes::Options;

#[test]
fn fields_of_a_message_are_read_in_one_pass() {
    let messages = Options { messages: true, ..NONE };
    let number = |id: u32, number: i64| format!("v{id}: int = const {number}\n");
    let field = |id: u32, of: u32, by: u32| format!("v{id}: value = call message_field v{of}, v15, v{by}\n");
    let head = format!("v15: str = const \"a\"\n{}{}{}", number(16, 2), number(17, 4), number(18, 65));
    let has = "v20: bool = call message_has v5, v15, v16\n";
    for (lines, bits) in [
        (format!("{}{}v21: value = list v19, v20", field(19, 5, 16), field(20, 5, 17)), Some("10")),
        (format!("{}{has}v21: value = box v20\nv22: value = list v19, v21", field(19, 5, 16)), Some("2")),
        // A field of a message, of which two fields are read.
        (
            format!("{}{}{}v22: value = list v20, v21", field(19, 5, 16), field(20, 19, 16), field(21, 19, 17)),
            Some("10"),
        ),
        // One field, twice; two, one of which has too large a number; of two messages.
        (format!("{}v20: value = list v19, v19", field(19, 5, 16)), None),
        (format!("{}{}v21: value = list v19, v20", field(19, 5, 16), field(20, 5, 18)), None),
        (format!("{}{}v21: value = list v19, v20", field(19, 5, 16), field(20, 19, 17)), None),
        // An element, of which there may be many.
        (
            format!(
                "v19: value = local 0\n{}{}v22: value = list v20, v21\nv23: value = fold.map 0 v5, v22",
                field(20, 19, 16),
                field(21, 19, 17)
            ),
            None,
        ),
    ] {
        let shown = becomes(messages, &format!("{head}{lines}"));
        let read = bits.map(|bits| format!(", (const {bits}))"));
        assert_eq!(shown.contains("call message_fields"), read.is_some(), "{lines}: {shown}");
        assert!(read.is_none_or(|read| shown.contains(&read)), "{lines}: {shown}");
    }
}
