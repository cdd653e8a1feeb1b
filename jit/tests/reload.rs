//! Reloading for ever: code that is dropped is given back. Alone in its process, so that memory can be measured.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use celero_ir::{Constant, Graph, Op, Origin, Ty};
use celero_jit::{Code, Compiler, ConstantAddress, Settings, Unit};

/// Bytes of memory in use, and bytes of executable memory that comes from no file.
fn memory() -> (usize, usize) {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = status.split(' ').nth(1).unwrap().parse().unwrap();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let size = |line: &str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let [range, rights, _, _, _] = fields.as_slice() else { return 0 };
        let (from, to) = range.split_once('-').unwrap();
        let hex = |s| usize::from_str_radix(s, 16).unwrap();
        if rights.contains('x') { hex(to).saturating_sub(hex(from)) } else { 0 }
    };
    (pages.saturating_mul(rustix::param::page_size()), maps.lines().map(size).sum())
}

#[test]
fn two_thousand_reloads_leave_nothing() {
    let mut graph = Graph::new();
    let one = graph.constant(Constant::Int(1));
    let root = graph.add(Op::Const(one), Ty::Int, &[], Origin::default());
    graph.add_root(root);
    let unit = Unit {
        graph: &graph,
        fields: &[],
        constants: &[ConstantAddress::default()],
        helpers: &[],
        functions: &[],
        steps: None,
        literals: &[],
    };
    let mut compiler = Compiler::new(&Settings::default()).unwrap();
    let mut cycle = || compiler.compile(&unit).unwrap();

    // An emulator (QEMU) maps an executable page of its own.
    let (_, others) = memory();
    let kept: Vec<Code> = (0..500).map(|_| cycle()).collect();
    let mapped = kept.iter().map(Code::mapped).sum();
    assert_eq!(memory().1.checked_sub(others), Some(mapped), "each has pages of its own");
    drop(kept);
    assert_eq!(memory().1, others);

    let (before, _) = memory();
    (0..2000).for_each(|_| drop(cycle()));
    let (after, executable) = memory();
    assert_eq!(executable, others);
    // A page for each would be 8 MB.
    assert!(after.saturating_sub(before) < 1 << 20, "{before} to {after} bytes");
}
