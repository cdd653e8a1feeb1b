//! Rules that other people wrote are accepted and formatted, where the collection is at hand.

use crate::corpus::shared;
use celero_frontend::filter::{FilterOptions, check_filter, filter_json, format_filter, http_scheme, unparse_filter};
use celero_frontend::{Style, render};
use std::sync::Arc;

#[test]
fn collected_rules_are_accepted_and_formatted_to_a_fixed_point() {
    let Some(path) = shared("corpora/filter_expressions.jsonl") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let (mut scheme, options) = (http_scheme(), FilterOptions::default());
    scheme.accept_all_lists();
    let scheme = Arc::new(scheme);
    let mut failures = String::new();
    let mut count = 0;
    for line in text.lines() {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        let source = entry["expr"].as_str().unwrap();
        count += 1;
        let tree = match check_filter(source, &scheme, &options) {
            Ok((tree, _)) => tree,
            Err(errors) => {
                failures += &render(source, "rule", &errors, Style::Plain);
                continue;
            }
        };
        let json = filter_json(&tree);
        serde_json::from_str::<serde_json::Value>(&json).unwrap();
        let again = |text: &str| check_filter(text, &scheme, &options).unwrap().0;
        let flat = unparse_filter(&tree);
        assert_eq!(unparse_filter(&again(&flat)), flat);
        assert_eq!(filter_json(&again(&flat)), json);
        for width in [40, 100] {
            let formatted = format_filter(source, &scheme, &options, width).unwrap();
            assert_eq!(format_filter(&formatted, &scheme, &options, width).unwrap(), formatted);
            assert_eq!(filter_json(&again(&formatted)), json);
        }
    }
    assert!(count > 100);
    assert!(failures.is_empty(), "{failures}");
}
