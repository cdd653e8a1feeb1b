//! Code memory: never writable and executable at once, given back when the code goes.

use crate::common::{Build, run};
use celero_ir::{Arith, Op, Ty};
use celero_jit::Compiler;

fn sum() -> Build {
    let mut b = Build::default();
    for n in 0..3 {
        let (one, n) = (b.int(1), b.int(n));
        let root = b.add(Op::Arith(Arith::Add), Ty::Int, &[one, n]);
        b.graph.add_root(root);
    }
    b
}

/// The access rights of the mapping that an address lies in.
fn rights(address: usize) -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (from, to) = range.split_once('-')?;
        let hex = |s| usize::from_str_radix(s, 16).unwrap();
        (hex(from)..hex(to)).contains(&address).then(|| rest[..4].to_string())
    })
}

/// The address behind an entry, which its debug form shows.
fn address(code: &celero_jit::Code, root: usize) -> usize {
    let shown = format!("{:?}", code.entry(root).unwrap());
    let digits = shown.split("0x").nth(1).unwrap();
    let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap();
    usize::from_str_radix(&digits[..end], 16).unwrap()
}

#[test]
fn code_is_executable_and_not_writable_and_goes_with_its_owner() {
    let code = sum().compile();
    for root in 0..3 {
        assert_eq!(rights(address(&code, root)).as_deref(), Some("r-xp"));
        assert_eq!(run(&code, root, &0).int(), Ok(root as i64 + 1));
    }
    assert_eq!(address(&code, 0) & !0xfff, address(&code, 2) & !0xfff, "one region");
    assert!(code.entry(3).is_none());
    assert!(code.size() > 0 && code.size() <= code.mapped());
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let both = maps.lines().filter(|line| line.split(' ').nth(1).is_some_and(|r| r.contains('w') && r.contains('x')));
    assert_eq!(both.count(), 0, "{maps}");
}

#[test]
fn what_may_cross_threads() {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    shared::<celero_jit::Code>();
    shared::<celero_jit::Entry<'_>>();
    sent::<Compiler>();
}

#[test]
fn an_empty_unit_and_many_threads() {
    let b = Build::default();
    assert!(b.compile().entry(0).is_none());
    let code = sum().compile();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..1000).for_each(|_| assert_eq!(run(&code, 1, &0).int(), Ok(2))));
        }
    });
}
