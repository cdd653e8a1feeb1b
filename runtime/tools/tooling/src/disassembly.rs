//! Disassembles machine code: offsets, bytes, instructions, names of what is called, and the part
//! of the source that each came from.

use celero::diagnostics::Span;
use celero::settings::{CodeSpan, MachineCode};
use serde_json::{Value as Json, json};

/// The instructions of a function.
pub struct Disassembly {
    /// The instructions, in the order of the code.
    pub lines: Vec<Line>,
    /// Whether the lines are instructions. If not, they are bytes, because there is no disassembler for this processor.
    pub decoded: bool,
}

/// An instruction, or bytes of data.
pub struct Line {
    /// The first byte, from the start of the function.
    pub offset: usize,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The instruction as an assembler writes it; `(data)` for data.
    pub text: String,
    /// What it calls or refers to.
    pub name: Option<String>,
    /// Whether it calls what `name` is.
    pub calls: bool,
    /// The part of the source that it came from.
    pub source: Option<Span>,
}

impl Disassembly {
    /// Returns the instructions as JSON.
    pub fn json(&self) -> Json {
        let line = |line: &Line| {
            json!({
                "offset": line.offset,
                "bytes": hex(&line.bytes),
                "text": line.text,
                "name": line.name,
                "calls": line.calls,
                "span": line.source.map(|span| [span.start, span.end]),
            })
        };
        self.lines.iter().map(line).collect()
    }

    /// Returns what the code calls, each once, in the order of the code.
    pub fn callees(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.lines.iter().filter(|line| line.calls).filter_map(|line| line.name.as_deref()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// Returns bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

fn source_of(code: &MachineCode, offset: usize) -> Option<Span> {
    let within = |span: &&CodeSpan| (span.from..span.to).contains(&offset);
    code.spans().iter().find(within).map(|span| span.source)
}

/// Disassembles a function for the processor that it was compiled for.
#[cfg(target_arch = "x86_64")]
pub fn disassemble(code: &MachineCode) -> Disassembly {
    use iced_x86::{Code, Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, Mnemonic, OpKind, Register};
    use std::collections::BTreeMap;

    let bytes = code.bytes();
    let decode = || Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE);
    let is_data = |instruction: &Instruction| instruction.is_ip_rel_memory_operand();
    // Constants follow the code, and instructions read them relative to their own address.
    let constants = decode().into_iter().filter(is_data).map(|instruction| instruction.ip_rel_memory_address());
    let end = constants.filter_map(|at| usize::try_from(at).ok()).filter(|at| *at < bytes.len()).min();
    let mut end = end.unwrap_or(bytes.len());

    let mut formatter = IntelFormatter::new();
    let options = formatter.options_mut();
    options.set_space_after_operand_separator(true);
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_branch_leading_zeros(false);
    options.set_small_hex_numbers_in_decimal(true);
    options.set_rip_relative_addresses(false);
    // A register and its lower half are one.
    let key = |register: Register| {
        let (number, half) = (register as u32, Register::EAX as u32);
        let index = number.checked_sub(half).filter(|index| *index < 16);
        index.map_or(number, |index| index.saturating_add(Register::RAX as u32))
    };
    let mut lines = Vec::new();
    // The names of the addresses that registers hold.
    let mut held: BTreeMap<u32, String> = BTreeMap::new();
    for instruction in &mut decode() {
        let offset = usize::try_from(instruction.ip()).unwrap_or(usize::MAX);
        // Zeros before the constants align them.
        let padding =
            end < bytes.len() && bytes.get(offset..end).is_some_and(|rest| rest.iter().all(|byte| *byte == 0));
        if offset >= end || padding {
            end = offset.min(end);
            break;
        }
        let next = offset.saturating_add(instruction.len()).min(end);
        let mut text = String::new();
        formatter.format(&instruction, &mut text);
        let first = instruction.op0_register();
        let calls = instruction.mnemonic() == Mnemonic::Call;
        let name = match instruction.op1_kind() {
            _ if calls => held.get(&key(first)).cloned(),
            OpKind::Immediate64 | OpKind::Immediate32to64 if instruction.mnemonic() == Mnemonic::Mov => {
                code.symbol(instruction.immediate(1)).map(ToOwned::to_owned)
            }
            OpKind::Immediate32 if instruction.code() == Code::Mov_r32_imm32 => {
                code.symbol(u64::from(instruction.immediate32())).map(ToOwned::to_owned)
            }
            _ => None,
        };
        if !calls && instruction.op0_kind() == OpKind::Register {
            match &name {
                Some(name) => drop(held.insert(key(first), name.clone())),
                None if !matches!(instruction.mnemonic(), Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Push) => {
                    held.remove(&key(first));
                }
                None => {}
            }
        }
        let bytes = bytes.get(offset..next).unwrap_or_default().to_vec();
        lines.push(Line { offset, bytes, text, calls: calls && name.is_some(), name, source: source_of(code, offset) });
    }
    let data = bytes.get(end..).unwrap_or_default().chunks(8).enumerate().map(|(number, bytes)| Line {
        offset: end.saturating_add(number.saturating_mul(8)),
        bytes: bytes.to_vec(),
        text: "(data)".to_owned(),
        name: None,
        calls: false,
        source: None,
    });
    lines.extend(data);
    Disassembly { lines, decoded: true }
}

/// Returns the bytes of a function, four in a line: the length of an instruction of aarch64.
#[cfg(not(target_arch = "x86_64"))]
pub fn disassemble(code: &MachineCode) -> Disassembly {
    let line = |(number, bytes): (usize, &[u8])| {
        let offset = number.saturating_mul(4);
        let (text, source) = (String::new(), source_of(code, offset));
        Line { offset, bytes: bytes.to_vec(), text, name: None, calls: false, source }
    };
    Disassembly { lines: code.bytes().chunks(4).enumerate().map(line).collect(), decoded: false }
}
