//! What a compilation returns: code that can be called, or a listing that can be read.

use crate::code_memory::{CodeMemory, InstalledFunction};
use crate::entry::Entry;
use crate::unit::Unit;
use celero_ir::layout::{Access, Elements, Field, Items, Place};
use celero_ir::{ConstId, Helper, NodeId, Origin};
use std::sync::Arc;

/// The installed functions of one compilation.
///
/// Owns their memory, which is unmapped when this is dropped; an [`Entry`] borrows it.
#[derive(Debug)]
pub struct Code {
    pub(crate) memory: CodeMemory,
    /// Bytes of machine code.
    pub(crate) bytes: usize,
}

impl Code {
    /// The function of a root or, if functions were [installed](crate::Compiler::install), the function of this index.
    #[must_use]
    pub fn entry(&self, function: usize) -> Option<Entry<'_>> {
        self.memory.function(function).map(|(address, convention)| Entry::new(address, convention))
    }

    /// The functions, in order, with their code.
    pub(crate) fn installed(&self) -> impl Iterator<Item = InstalledFunction<'_>> {
        self.memory.installed()
    }

    /// The machine code of a function, as it is installed.
    #[must_use]
    pub fn machine_code(&self, function: usize) -> Option<&[u8]> {
        self.memory.installed().nth(function).map(|installed| installed.code)
    }

    /// Bytes of machine code.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes
    }

    /// Bytes of memory that are mapped for the code: whole pages.
    #[must_use]
    pub fn mapped(&self) -> usize {
        self.memory.size()
    }
}

/// A function that rules share: see [`Compiler::compile_shared`](crate::Compiler::compile_shared).
#[derive(Clone, Debug)]
pub struct SharedFunction {
    /// The function is its first.
    pub code: Arc<Code>,
    /// The rule's parameter row, which the function reads.
    pub row: Box<[u64]>,
}

/// A compiled function for people who study it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Cranelift's intermediate form, with the rule's constants; helpers are named at their addresses.
    pub clif: String,
    /// The machine code, as it is installed.
    pub bytes: Vec<u8>,
    /// Which machine code came from which part of the source, by rising addresses.
    pub ranges: Vec<CodeRange>,
    /// What the addresses in the code are.
    pub symbols: Vec<(usize, Symbol)>,
}

/// What is at an address that the code contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// A helper.
    Helper(Helper),
    /// A constant of the graph.
    Constant(ConstId),
    /// The accessor of a field, by its number.
    Accessor(u32),
    /// The table of the texts of a field, by its number.
    Texts(u32),
    /// A function of the graph, by its number.
    Function(u32),
}

impl Symbol {
    /// The addresses that code of a unit may contain.
    pub(crate) fn of(unit: &Unit<'_>) -> Vec<(usize, Self)> {
        let mut symbols: Vec<(usize, Self)> =
            Helper::ALL.iter().zip(unit.helpers).map(|(helper, address)| (*address, Self::Helper(*helper))).collect();
        for (id, address) in (0..).map(ConstId).zip(unit.constants) {
            symbols.extend([address.data, address.value].map(|address| (address, Self::Constant(id))));
        }
        for (number, field) in (0..).zip(unit.fields) {
            symbols.extend(accessors(field).into_iter().map(|address| (address, Self::Accessor(number))));
            if let Access::Tagged(_, tags, _) = &field.access {
                symbols.push((tags.table, Self::Texts(number)));
            }
        }
        symbols.extend((0..).zip(unit.functions).map(|(number, address)| (*address, Self::Function(number))));
        symbols.retain(|(address, _)| *address != 0);
        symbols.sort_by_key(|(address, _)| *address);
        symbols
    }
}

/// The addresses of all functions of the host that code calls for a field.
fn accessors(field: &Field) -> Vec<usize> {
    let mut addresses = Vec::new();
    let mut add = |access: &Access| match access {
        Access::Text(_, accessor) | Access::Filled(_, accessor) | Access::Tagged(_, _, accessor) => {
            addresses.push(*accessor);
        }
        Access::Scalar(_, accessor) => addresses.push(accessor.address),
        Access::MostlyText(_, accessor, make) => addresses.extend([*accessor, *make]),
        Access::Load(..) | Access::Get => {}
    };
    add(&field.access);
    if let Some(elements) = &field.elements {
        add(&elements.access);
        let members = elements.members.map(|members| members.0()).unwrap_or_default();
        members.iter().for_each(|(_, member)| add(&member.access));
    }
    if let Some(value) = field.entries.as_ref().and_then(|entries| entries.value.as_ref()) {
        add(&value.access);
    }
    if let Some(cursor) = &field.cursor {
        add(&cursor.items.first().access);
        if let Items::Entries(_, value) = &cursor.items {
            add(&value.access);
        }
        addresses.extend([cursor.begin, cursor.next]);
    }
    if let Some(Elements { place: Place::Call(function), .. }) = field.elements {
        addresses.push(function);
    }
    if let Some(entries) = &field.entries {
        addresses.push(entries.find);
        addresses.extend(entries.value.as_ref().map(|value| value.make));
    }
    addresses
}

/// A range of machine code and the node that it computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeRange {
    /// First byte, from the start of the function.
    pub from: u32,
    /// One past the last byte.
    pub to: u32,
    /// The node.
    pub node: NodeId,
    /// The node's place in the source.
    pub origin: Origin,
}

/// Replaces the addresses of helpers in a CLIF listing by the helpers' names. `addresses` is indexed by helper.
pub(crate) fn name_helpers(clif: &str, addresses: &[usize]) -> String {
    let mut text = String::with_capacity(clif.len());
    let mut parts = clif.split(" = 0x");
    text.extend(parts.next());
    for part in parts {
        let end = part.find(|c: char| c != '_' && !c.is_ascii_hexdigit()).unwrap_or(part.len());
        let (number, rest) = part.split_at(end);
        let address = usize::from_str_radix(&number.replace('_', ""), 16).ok();
        let index = addresses.iter().position(|known| Some(*known) == address);
        match index.and_then(|index| Helper::ALL.get(index)) {
            Some(helper) => text.extend([" = ", helper.decl().name, rest]),
            None => text.extend([" = 0x", number, rest]),
        }
    }
    text
}
