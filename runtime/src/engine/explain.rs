//! [`Explanation`]: the stages of a compilation as text, and its machine code.

use super::program::Program;
use super::{Engine, Stages};
use crate::context::Context;
use crate::env::Env;
use crate::error::CompileError;
use celero_frontend::Span;
use celero_ir::{Constant, Graph};
use celero_jit::{Listing, Symbol};
use std::fmt::{self, Write};

/// The stages of a compilation, each a title and a text. Displays as all of them.
#[derive(Clone, Debug)]
pub struct Explanation {
    sections: Vec<(&'static str, String)>,
    code: Option<MachineCode>,
}

/// The machine code of an expression: the bytes that run. [`Explanation::machine_code`] returns it.
#[derive(Clone, Debug)]
pub struct MachineCode {
    bytes: Vec<u8>,
    spans: Vec<CodeSpan>,
    symbols: Vec<(u64, String)>,
}

/// Machine code that came from a part of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeSpan {
    /// The first byte, from the start of the function.
    pub from: usize,
    /// The byte after the last one.
    pub to: usize,
    /// The part of the source.
    pub source: Span,
    /// The node of the optimised graph that the code computes, as that section names it.
    pub node: String,
}

impl Engine {
    /// Compiles an expression and returns every stage of the compilation as text, for people who
    /// study what becomes of a rule.
    ///
    /// # Errors
    /// [`CompileError`] with every diagnostic.
    pub fn explain<C: Context>(&self, env: &Env<C>, source: &str) -> Result<Explanation, CompileError> {
        let mut stages = Stages { wanted: true, ..Stages::default() };
        let program = self.build(env, source, &mut stages)?;
        let names: Vec<String> =
            env.declarations().variables().iter().map(|variable| variable.name.to_string()).collect();
        Ok(Explanation::new(&program, stages, &names))
    }
}

impl Explanation {
    fn new<S>(program: &Program<S>, stages: Stages, fields: &[String]) -> Self {
        let tree = program.expression().tree().dump();
        let mut sections = vec![("tree", tree), ("type", format!("{}\n", program.result_type()))];
        sections.push(("static cost", format!("{}\n", program.expression().static_cost())));
        if let Some(graph) = &stages.lowered {
            sections.push(("graph", graph.to_string()));
        }
        if let Some(graph) = &stages.optimized {
            sections.push(("optimized graph", graph.to_string()));
        }
        if !stages.folded.is_empty() {
            let lines = stages.folded.iter().map(|call| format!("{call}\n")).collect();
            sections.push(("folded calls", lines));
        }
        let mut code = None;
        for listing in stages.listings {
            sections.push(("cranelift ir", listing.clif.clone()));
            let machine_code = MachineCode::new(&listing, stages.optimized.as_ref(), fields);
            sections.push(("machine code", machine_code.to_string()));
            sections.push(("source positions", positions(&machine_code.spans, program.source())));
            code = Some(machine_code);
        }
        Self { sections, code }
    }

    /// Returns titles and texts, in order: `tree`, `type`, `static cost`, and, for native code, `graph`,
    /// `optimized graph`, `folded calls` (of the host's [pure functions](Env::pure_function), with
    /// their results, if there are any), `cranelift ir`, `machine code` (its bytes), `source positions`.
    pub fn sections(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.sections.iter().map(|(title, text)| (*title, &**text))
    }

    /// Returns the machine code, for a disassembler; `None` if the interpreter evaluates the expression.
    #[must_use]
    pub fn machine_code(&self) -> Option<&MachineCode> {
        self.code.as_ref()
    }
}

impl MachineCode {
    fn new(listing: &Listing, graph: Option<&Graph>, fields: &[String]) -> Self {
        let span = |range: &celero_jit::CodeRange| CodeSpan {
            from: range.from as usize,
            to: range.to as usize,
            source: Span::new(range.origin.start, range.origin.end),
            node: range.node.to_string(),
        };
        let constants = graph.map_or(&[][..], Graph::constants);
        let field = |number: u32| fields.get(number as usize).map_or("field", String::as_str);
        let name = |symbol: &Symbol| match symbol {
            Symbol::Helper(helper) => helper.decl().name.to_owned(),
            Symbol::Constant(id) => {
                constants.get(id.0 as usize).map_or_else(|| "constant".to_owned(), Constant::to_string)
            }
            Symbol::Accessor(number) => format!("accessor of {}", field(*number)),
            Symbol::Texts(number) => format!("texts of {}", field(*number)),
            Symbol::Function(number) => graph
                .and_then(|graph| graph.functions().get(*number as usize))
                .map_or("function", |name| name)
                .to_owned(),
        };
        Self {
            bytes: listing.bytes.clone(),
            spans: listing.ranges.iter().map(span).collect(),
            symbols: listing.symbols.iter().map(|(address, symbol)| (*address as u64, name(symbol))).collect(),
        }
    }

    /// Returns the bytes of the function, as they are installed: code, and data that it reads after it.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns which code came from which part of the source, in the order of the code. Code
    /// between them belongs to no part.
    #[must_use]
    pub fn spans(&self) -> &[CodeSpan] {
        &self.spans
    }

    /// Returns what is at an address that is written in the code: the name of a helper, the text of
    /// a constant, or the accessor of a field.
    #[must_use]
    pub fn symbol(&self, address: u64) -> Option<&str> {
        let found = self.symbols.binary_search_by_key(&address, |(address, _)| *address).ok()?;
        self.symbols.get(found).map(|(_, name)| &**name)
    }
}

impl fmt::Display for MachineCode {
    /// Writes the bytes in hexadecimal, 16 in a line, with their offsets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, line) in self.bytes.chunks(16).enumerate() {
            write!(f, "{:04x} ", number.saturating_mul(16))?;
            for byte in line {
                write!(f, " {byte:02x}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// From which node and which part of the source each range of code bytes comes.
fn positions(spans: &[CodeSpan], source: &str) -> String {
    let mut text = String::new();
    for CodeSpan { from, to, source: Span { start, end }, node } in spans {
        let source = source.get(*start as usize..*end as usize).unwrap_or_default();
        let _ = writeln!(text, "{from:#06x}..{to:#06x}  {node}  {start}..{end}  {source}");
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
