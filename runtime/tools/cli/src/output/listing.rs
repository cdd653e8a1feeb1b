//! The machine code of an expression as text: the instructions with the source that they came from,
//! and the source with its code.

use crate::output::Paint;
use celero::diagnostics::Span;
use celero::settings::MachineCode;
use celero_tooling::disassembly::{Disassembly, hex};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The widest list of bytes of an instruction, in bytes.
const BYTES: usize = 10;

/// Returns the instructions, under the parts of the source that they came from.
pub(crate) fn from_code(disassembly: &Disassembly, source: &str, paint: Paint) -> String {
    let mut text = String::new();
    let mut current = None;
    for (number, line) in disassembly.lines.iter().enumerate() {
        if number == 0 || line.source != current {
            current = line.source;
            let part = current.map_or_else(|| paint.faint("entry, exits"), |span| part(source, span, paint));
            let _ = writeln!(text, "{part}");
        }
        let offset = paint.faint(&format!("{:04x}", line.offset));
        let bytes = paint.faint(&format!("{:<width$}", hex(&line.bytes), width = BYTES.saturating_mul(3)));
        let (mnemonic, operands) = line.text.split_once(' ').unwrap_or((&line.text, ""));
        let name =
            line.name.as_ref().map(|name| format!("  ; {}{}", if line.calls { "" } else { "= " }, paint.name(name)));
        let instruction = format!("{} {operands}", paint.strong(&format!("{mnemonic:<8}")));
        let _ = writeln!(text, "  {offset}  {bytes} {}{}", instruction.trim_end(), name.unwrap_or_default());
    }
    if !disassembly.decoded {
        text.push_str("there is no disassembler for this processor here; these are the bytes\n");
    }
    text
}

/// Returns the parts of the source with the ranges of their code, in the order of the source.
pub(crate) fn from_source(code: &MachineCode, source: &str, paint: Paint) -> String {
    let mut text = String::new();
    for (span, ranges) in ranges(code) {
        let bytes: usize = ranges.iter().map(|(from, to)| to.saturating_sub(*from)).sum();
        let ranges: Vec<String> = ranges.iter().map(|(from, to)| format!("{from:04x}..{to:04x}")).collect();
        let _ = writeln!(text, "{}\n  {bytes} bytes: {}", part(source, span, paint), paint.faint(&ranges.join(" ")));
    }
    text
}

/// Returns the ranges of code of each part of the source; neighbours are one range.
pub(crate) fn ranges(code: &MachineCode) -> Vec<(Span, Vec<(usize, usize)>)> {
    let mut parts: BTreeMap<(u32, u32), Vec<(usize, usize)>> = BTreeMap::new();
    for span in code.spans() {
        let ranges = parts.entry((span.source.start, span.source.end)).or_default();
        match ranges.last_mut() {
            Some((_, to)) if *to == span.from => *to = span.to,
            _ => ranges.push((span.from, span.to)),
        }
    }
    parts.into_iter().map(|((start, end), ranges)| (Span::new(start, end), ranges)).collect()
}

/// Returns the place and the text of a part of the source, on one line.
fn part(source: &str, span: Span, paint: Paint) -> String {
    let place = |at: u32| {
        let before = source.get(..at as usize).unwrap_or(source);
        let line = before.matches('\n').count().saturating_add(1);
        let column = before.rsplit('\n').next().unwrap_or("").chars().count().saturating_add(1);
        format!("{line}:{column}")
    };
    let text = source.get(span.start as usize..span.end as usize).unwrap_or_default();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{}  {}", paint.faint(&format!("{}-{}", place(span.start), place(span.end))), paint.source(&text))
}
