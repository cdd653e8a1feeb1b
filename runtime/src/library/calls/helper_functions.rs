//! The functions behind the helpers (`celero_ir::Helper`) whose operands are all values, under the
//! names of the table of helpers. Each has the evaluation context as its first parameter, then the
//! operands in order.

pub(crate) use crate::library::json::json_parse;
pub(crate) use crate::library::named_lists::{
    list_entry, list_find, list_find_address, list_find_integer, list_find_text, list_has, list_has_address,
    list_has_bytes, list_has_integer, list_has_text, list_value_bool, list_value_has, list_value_int,
    list_value_optional, list_value_text,
};
pub(crate) use crate::library::network::ip_text;
pub(crate) use crate::library::standard::containers::{
    has, in_container, index_key, index_list, index_map, index_value, list_len, map_only, message_field,
    message_fields, message_has, range_items, range_pairs, select, size, value_equal,
};
pub(crate) use crate::library::standard::matches::string_matches;
pub(crate) use crate::library::standard::ordering::{value_greater, value_greater_equal, value_less, value_less_equal};
pub(crate) use crate::library::standard::text::{
    bytes_add, bytes_compare, bytes_ends_with, bytes_equal, bytes_starts_with, string_add, string_contains,
    string_size, text_decode,
};
pub(crate) use crate::library::strings::{split_count, split_part};
