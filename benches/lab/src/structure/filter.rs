//! The structure of expressions in Cloudflare's filter language.

use super::{Feature, bucket};
use celero_frontend::filter::{
    AccessStep, Comparison, FilterExpr, FilterOptions, FilterTree, Scheme, check_filter, http_scheme,
};
use celero_frontend::{NodeId, with_stack};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::{Arc, LazyLock};

static SCHEME: LazyLock<Arc<Scheme>> = LazyLock::new(|| {
    let mut scheme = http_scheme();
    scheme.accept_all_lists();
    Arc::new(scheme)
});

pub(super) fn structure(source: &str) -> Result<(String, BTreeSet<Feature>), String> {
    let (tree, _) = check_filter(source, &SCHEME, &FilterOptions::default())
        .map_err(|errors| errors.first().map_or_else(String::new, |error| error.message.clone()))?;
    let mut walk = Walk { tree: &tree, key: String::new(), features: BTreeSet::new() };
    with_stack(tree.depth(), || walk.visit(tree.root()));
    Ok((walk.key, walk.features))
}

struct Walk<'a> {
    tree: &'a FilterTree,
    key: String,
    features: BTreeSet<Feature>,
}

impl Walk<'_> {
    fn all(&mut self, head: &str, nodes: &[NodeId]) {
        let _ = write!(self.key, "{head}(");
        for node in nodes {
            self.visit(*node);
            self.key.push(' ');
        }
        self.key.push(')');
    }

    fn visit(&mut self, id: NodeId) {
        let tree = self.tree;
        let node = tree.node(id);
        if node.each {
            self.features.insert(Feature::Macros);
        }
        match &node.expr {
            FilterExpr::Field(index) => self.key.push_str(tree.field(*index).map_or("?", |field| &field.name)),
            FilterExpr::Literal(_) => {
                let _ = write!(self.key, "{}", node.ty);
            }
            FilterExpr::Call { function, args } => {
                let name = tree.function(*function).map_or("?", |function| &function.name);
                self.features.insert(Feature::of_function(name));
                self.all(name, tree.children(*args));
            }
            FilterExpr::Access { base, steps } => {
                self.visit(*base);
                for step in steps {
                    self.key.push_str(match step {
                        AccessStep::Index(_) => "[int]",
                        AccessStep::Key(_) => {
                            self.features.insert(Feature::Maps);
                            "[string]"
                        }
                        AccessStep::Each => "[*]",
                    });
                }
            }
            FilterExpr::Test(operand) => self.all("test", &[*operand]),
            FilterExpr::Compare { value, comparison } => {
                let (feature, operator) = compared(comparison);
                self.features.insert(feature);
                self.all(&operator, &[*value]);
            }
            FilterExpr::Not(operand) => self.all("not", &[*operand]),
            FilterExpr::Logic { op, operands } => self.all(&format!("{op:?}"), tree.children(*operands)),
            FilterExpr::Quantifier { all, operand } => {
                self.features.insert(Feature::Macros);
                self.all(if *all { "all" } else { "any" }, &[*operand]);
            }
        }
    }
}

/// The feature of a comparison, and its operator without the constants.
fn compared(comparison: &Comparison) -> (Feature, String) {
    match comparison {
        Comparison::Order(op, _) => (Feature::Comparison, format!("{op:?}")),
        Comparison::BitwiseAnd(_) => (Feature::Arithmetic, "&".to_owned()),
        Comparison::Contains(_) => (Feature::Contains, "contains".to_owned()),
        Comparison::Matches(pattern) => (Feature::Regex, format!("matches {}", bucket(pattern.text.len()))),
        Comparison::Wildcard(_) => (Feature::Contains, "wildcard".to_owned()),
        Comparison::StrictWildcard(_) => (Feature::Contains, "strict wildcard".to_owned()),
        Comparison::OneOf(items) => (Feature::Set, format!("in {}", bucket(items.len()))),
        Comparison::InList(_) => (Feature::Set, "in list".to_owned()),
    }
}
