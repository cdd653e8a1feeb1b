//! Which functions are copies of earlier ones, and that a copy has its own constants.

use super::{Host, TemplateBuilder, copied, hosts};
use crate::common::run;
use crate::runtime::Headers;
use celero_ir::{Cmp, Constant, ErrorKind, ErrorWord, NodeId, Op, Origin, Ty};
use celero_jit::Code;

/// A rule on the field `text`.
fn rule(op: Op, text: &str) -> (Code, bool) {
    copied(&TemplateBuilder::new(false, |d| {
        let (field, text) = (d.field(0), d.text(text));
        d.test(op, &[field, text])
    }))
}

fn host() -> Host {
    hosts(Box::leak(Box::new([Headers(vec![])])))[0]
}

#[test]
fn a_rule_that_differs_in_constants_is_a_copy() {
    let equal = Op::Cmp(Cmp::Eq);
    let texts = ["abcdefgh", "ijklmnop", "12345678", "ABCDEFGH"];
    let rules = texts.map(|text| (text, rule(equal, text)));
    assert_eq!(rules.each_ref().map(|(_, (_, copied))| *copied), [false, false, true, true]);
    for (text, (code, _)) in &rules {
        for other in texts {
            assert_eq!(run(code, 0, &Host { text: other, ..host() }).bool(), Ok(other == *text), "{text} on {other}");
        }
    }
    // The length, and words of 32 bits, are in the instructions.
    for (op, text) in [(equal, "abcdefghi"), (Op::Cmp(Cmp::Ne), "abcdefgh"), (Op::EndsWith, "abcdefgh"), (equal, "abc")]
    {
        assert!(!rule(op, text).1, "{op:?} {text}");
    }
    assert!(!rule(equal, "def").1 && !rule(equal, "ghi").1);
}

#[test]
fn a_copy_has_the_numbers_of_its_rule() {
    // Those below 2^31 are immediate operands.
    let numbers = [1 << 31, 1 << 40, i64::MAX, i64::MIN, -(1 << 31) - 1];
    let rule = |number: i64| {
        copied(&TemplateBuilder::new(false, |d| {
            let (field, number) = (d.field(1), d.int(number));
            let less = d.test(Op::Cmp(Cmp::Lt), &[field, number]);
            let same = d.test(Op::Cmp(Cmp::Eq), &[field, number]);
            d.any(&[less, same])
        }))
    };
    for (place, number) in numbers.into_iter().enumerate() {
        let (code, copied) = rule(number);
        assert_eq!(copied, place > 1, "{number}");
        for other in numbers.into_iter().flat_map(|n| [n, n.saturating_add(1), n.saturating_sub(1)]) {
            assert_eq!(run(&code, 0, &Host { int: other, ..host() }).bool(), Ok(other <= number), "{other} {number}");
        }
    }
    for number in [(1 << 31) - 1, -(1 << 31)] {
        assert!(!rule(number).1 && !rule(number).1, "{number}");
    }
}

#[test]
fn an_error_of_a_copy_has_its_place() {
    // A sum that overflows, after as many others that move its place in the source.
    let rule = |places: usize| {
        let builder = TemplateBuilder::new(false, |d| {
            for number in 0..places {
                d.int(number as i64 + 1000);
            }
            let (field, most) = (d.field(1), d.int(i64::MAX));
            let sum = d.build.add(Op::Arith(celero_ir::Arith::Add), Ty::Int, &[field, most]);
            d.test(Op::Cmp(Cmp::Ge), &[sum, most])
        });
        let graph = &builder.build.graph;
        let sum = graph.ids().find(|&id| matches!(graph.op(id), Op::Arith(_))).unwrap();
        (copied(&builder), graph.origin(sum))
    };
    let mut places: Vec<Origin> = Vec::new();
    for (number, others) in [0, 3, 17, 40].into_iter().enumerate() {
        let ((code, copied), origin) = rule(others);
        assert_eq!(copied, number > 1);
        let failed = ErrorWord(run(&code, 0, &Host { int: 1, ..host() }).word).unpack();
        assert_eq!(failed, (ErrorKind::Overflow, origin));
        assert!(!places.contains(&origin));
        places.push(origin);
    }
}

#[test]
fn the_functions_used_last_are_kept() {
    // Each bit of the number decides about one comparison, so each number has a shape of its own.
    let rule = |number: u32| {
        copied(&TemplateBuilder::new(false, |d| {
            let field = d.field(1);
            let test = |bit: u32| if number >> bit & 1 == 0 { Cmp::Gt } else { Cmp::Lt };
            let tests: Vec<NodeId> = (0..9)
                .map(|bit| {
                    let constant = d.int(1 << (40 + bit));
                    d.test(Op::Cmp(test(bit)), &[field, constant])
                })
                .collect();
            d.any(&tests)
        }))
    };
    // How often a function is compiled until it is kept, which it is when it occurs again.
    let keep = |number: u32| (0..3).find(|_| rule(number).1).unwrap();
    assert_eq!(keep(0), 2);
    (1..200).for_each(|number| assert!(keep(number) > 1, "{number}"));
    assert!(rule(0).1, "fewer than 256 functions were used since");
    (200..455).for_each(|number| assert!(keep(number) > 1, "{number}"));
    assert!(rule(0).1, "255 were used since");
    (1..257).for_each(|number| assert!(keep(number) > 0, "{number}"));
    assert!(!rule(0).1, "others took its place");
    (455..512).for_each(|number| assert!(!rule(number).1, "{number}"));
    assert!(rule(2).1, "what occurs once takes no place");
}

#[test]
fn a_large_function_is_not_kept() {
    let rule = |tests: i64| {
        copied(&TemplateBuilder::new(false, |d| {
            let field = d.field(1);
            let test = |d: &mut TemplateBuilder, n: i64| {
                let set = d.build.graph.constant(Constant::IntSet([n << 40, (n << 40) + 1].into()));
                d.test(Op::InIntSet(set), &[field])
            };
            let tests: Vec<NodeId> = (1..=tests).map(|n| test(d, n)).collect();
            d.any(&tests)
        }))
    };
    for (tests, kept) in [(20, true), (200, false)] {
        assert!(!rule(tests).1 && !rule(tests).1);
        assert_eq!(rule(tests).1, kept, "{tests} tests");
    }
}
