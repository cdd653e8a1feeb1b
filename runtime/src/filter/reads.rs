//! What a rule in the filter language can read of a context.

use super::Filter;
use crate::fields::Fields;
use crate::filter::binding::{FilterBinding, Source};
use celero_frontend::filter::{AccessStep, FilterExpr};
use celero_frontend::{NodeId, Variable};
use celero_ir::layout::Field as Layout;
use std::collections::BTreeSet;

impl Filter {
    /// What an evaluation can read.
    pub(crate) fn fields(&self, binding: &FilterBinding, variables: &[Variable], layouts: &[Layout]) -> Fields {
        let mut found = Fields::default();
        // Fields of which one entry is read, by node.
        let mut single = BTreeSet::new();
        for node in self.tree.nodes() {
            let FilterExpr::Access { base, steps } = &node.expr else { continue };
            if let (FilterExpr::Field(field), Some(AccessStep::Key(name))) = (self.tree.expr(*base), steps.first())
                && let Source::Variable(map, _) = binding.source(*field)
                && layouts.get(*map as usize).is_some_and(|layout| layout.headers.is_some())
            {
                found.add_header(variables, *map, name);
                single.insert(*base);
            }
        }
        for (index, node) in (0u32..).zip(self.tree.nodes()) {
            if let FilterExpr::Field(field) = node.expr
                && !single.contains(&NodeId(index))
            {
                add(&mut found, binding.source(field), variables, layouts);
            }
        }
        found
    }
}

fn add(found: &mut Fields, source: &Source, variables: &[Variable], layouts: &[Layout]) {
    match source {
        Source::Missing => {}
        Source::Variable(index, _) => {
            let is_map = layouts.get(*index as usize).is_some_and(|layout| layout.headers.is_some());
            found.add_variable(variables, *index, is_map);
        }
        Source::Header { map, name } => found.add_header(variables, *map, name),
        Source::Expression(expression) => found.merge(Fields::of(expression.checked(), variables, layouts)),
        Source::Derived(_, base) => add(found, base, variables, layouts),
    }
}
