//! What native code calls, under the names of the table of helpers (`celero_ir::Helper`): those rows whose operands are all
//! values. Each takes the context first, then the operands in order.

pub(crate) use super::containers::{
    has, in_container, index_list, index_map, list_len, map_only, range_items, range_pairs, select, size, value_equal,
};
pub(crate) use super::json::json_parse;
pub(crate) use super::network::ip_text;
pub(crate) use super::regex::string_matches;
pub(crate) use super::strings::{
    bytes_add, bytes_compare, bytes_equal, string_add, string_contains, string_ends_with, string_size,
    string_starts_with, text_decode,
};
pub(crate) use super::time::{timestamp_add, timestamp_diff, timestamp_sub};
