//! [`Explanation`]: the stages of a compilation as text.

use crate::context::Context;
use crate::engine::{Engine, Stages};
use crate::env::Env;
use crate::error::CompileError;
use crate::program::Program;
use std::fmt::{self, Write};

/// The stages of a compilation, each a title and a text. Displays as all of them.
#[derive(Clone, Debug)]
pub struct Explanation {
    sections: Vec<(&'static str, String)>,
}

impl Engine {
    /// Compiles an expression and returns every stage of the compilation as text, for people who study what becomes of a rule.
    ///
    /// # Errors
    /// [`CompileError`] with every diagnostic.
    pub fn explain<C: Context>(&self, env: &Env<C>, source: &str) -> Result<Explanation, CompileError> {
        let mut stages = Stages { wanted: true, ..Stages::default() };
        let program = self.build(env, source, &mut stages)?;
        Ok(Explanation::new(&program, stages))
    }
}

impl Explanation {
    fn new<S>(program: &Program<S>, stages: Stages) -> Self {
        let checked = program.checked();
        let mut sections =
            vec![("tree", celero_frontend::dump_checked(checked)), ("type", format!("{}\n", program.result_type()))];
        if let Some(graph) = &stages.lowered {
            sections.push(("graph", graph.to_string()));
        }
        if let Some(graph) = &stages.optimized {
            sections.push(("optimized graph", graph.to_string()));
        }
        for listing in stages.listings {
            sections.push(("cranelift ir", listing.clif));
            sections.push(("machine code", listing.assembly));
            sections.push(("source positions", positions(&listing.ranges, program.source())));
        }
        Self { sections }
    }

    /// Returns titles and texts, in order: `tree`, `type`, and, for native code, `graph`, `optimized graph`, `cranelift ir`, `machine code`,
    /// `source positions`.
    pub fn sections(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.sections.iter().map(|(title, text)| (*title, &**text))
    }
}

/// From which node and which part of the source each range of code bytes comes.
fn positions(spans: &[celero_jit::CodeRange], source: &str) -> String {
    let mut text = String::new();
    for span in spans {
        let celero_ir::Origin { start, end } = span.origin;
        let source = source.get(start as usize..end as usize).unwrap_or_default();
        let _ = writeln!(text, "{:#06x}..{:#06x}  {}  {start}..{end}  {source}", span.from, span.to, span.node);
    }
    text
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (title, text) in &self.sections {
            writeln!(f, "== {title}\n{text}")?;
        }
        Ok(())
    }
}
