//! What holds of every rule: its canonical text, its layouts and its JSON say the same as the rule.

use celero::filter::{
    FilterOptions, FilterTree, check_filter, check_value, filter_json, format_filter, read_filter_json, unparse_filter,
};
use std::sync::Arc;

/// Widths of lines for which layouts are made.
const WIDTHS: [usize; 3] = [0, 30, 100];

/// Checks that the canonical text of a rule has the rule's tree and is its own canonical text, that
/// the same holds of its layouts, and that its JSON does not depend on how the rule is written and
/// is read as the rule's tree.
///
/// # Errors
/// What does not hold.
pub fn round_trip(tree: &FilterTree, is_value: bool) -> Result<(), String> {
    let (text, json) = (unparse_filter(tree), filter_json(tree));
    let document: serde_json::Value =
        serde_json::from_str(&json).map_err(|error| format!("this is no JSON: {json}\n{error}"))?;
    let read_back = read_filter_json(&document, tree.scheme(), &FilterOptions::default())
        .map_err(|errors| format!("the JSON {json}\nis not read: {errors:?}"))?;
    if filter_json(&read_back) != json || !same_shape(tree, &read_back) {
        return Err(format!("the JSON {json}\nis read as {}", filter_json(&read_back)));
    }
    let again = read(&text, tree, is_value)?;
    if unparse_filter(&again) != text {
        return Err(format!("the canonical text {text}\nhas another: {}", unparse_filter(&again)));
    }
    if filter_json(&again) != json || !same_shape(tree, &again) {
        return Err(format!("the canonical text {text}\nhas another tree: {}\nnot {json}", filter_json(&again)));
    }
    if is_value {
        return Ok(());
    }
    let (scheme, options) = (tree.scheme(), FilterOptions::default());
    for width in WIDTHS {
        let format = |source: &str| {
            format_filter(source, scheme, &options, width).map_err(|errors| format!("{source}\n{errors:?}"))
        };
        let layout = format(tree.source())?;
        if format(&layout)? != layout {
            return Err(format!("the layout\n{layout}has another:\n{}", format(&layout)?));
        }
        if filter_json(&read(&layout, tree, false)?) != json {
            return Err(format!("the layout\n{layout}has another tree than {text}"));
        }
    }
    Ok(())
}

fn read(text: &str, tree: &FilterTree, is_value: bool) -> Result<FilterTree, String> {
    let check = if is_value { check_value } else { check_filter };
    let read = check(text, &Arc::clone(tree.scheme()), &FilterOptions::default());
    read.map(|(tree, _)| tree).map_err(|errors| format!("the text {text}\nis not accepted: {errors:?}"))
}

/// Whether two trees have the same nodes with the same types, in the same order.
fn same_shape(a: &FilterTree, b: &FilterTree) -> bool {
    let shape = |tree: &FilterTree| -> Vec<_> {
        tree.nodes().iter().map(|node| (std::mem::discriminant(&node.expr), node.ty.clone(), node.each)).collect()
    };
    shape(a) == shape(b)
}
