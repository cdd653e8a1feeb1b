//! The values that fields can have: `docs/policy-reference.md` says what the types of the fields declare.

use celero_policy::{Outline, Phase};
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn the_values_of_fields_are_on_the_page_of_policies() {
    let page = std::fs::read_to_string(super::root().join("docs/policy-reference.md")).unwrap();
    let outline = Outline::of("policy.yaml", "log: []\n", Path::new(".")).unwrap();
    let rows: BTreeSet<String> = Phase::ALL
        .iter()
        .flat_map(|phase| {
            let declarations = outline.declarations(Some(*phase));
            let row = |variable: &celero::language::Variable| {
                variable.values.as_ref().map(|values| format!("| `{}` | {values} |", variable.name))
            };
            declarations.variables().iter().filter_map(row).collect::<Vec<_>>()
        })
        .collect();
    assert!(rows.len() > 8);
    let missing: Vec<_> = rows.iter().filter(|row| !page.contains(*row)).collect();
    assert!(missing.is_empty(), "missing on the page: {missing:#?}");
}
