//! Which rules share code, and how long it is kept.

use super::{Host, TemplateBuilder, hosts, shared};
use crate::common::run_shared;
use crate::runtime::Headers;
use celero_ir::{Cmp, NodeId, Op};
use celero_jit::SharedFunction;
use std::sync::Arc;

/// A rule on the field `text`, in shared code.
fn shared_rule(op: Op, text: &str) -> SharedFunction {
    shared(&TemplateBuilder::new(false, |d| {
        let (field, text) = (d.field(0), d.text(text));
        d.test(op, &[field, text])
    }))
}

#[test]
fn rules_that_differ_in_constants_share_code() {
    let headers: &'static [Headers] = Box::leak(Box::new([Headers(vec![])]));
    let equal = Op::Cmp(Cmp::Eq);
    let rules = ["abcdefgh", "abcdefghi", "abcdefghijklmnop"].map(|text| (text, shared_rule(equal, text)));
    for (text, rule) in &rules {
        assert!(Arc::ptr_eq(&rule.code, &rules[0].1.code), "{text}");
        for (other, _) in &rules {
            let host = Host { text: other, ..hosts(headers)[0] };
            assert_eq!(run_shared(rule, &host).bool(), Ok(other == text), "{text} on {other}");
        }
    }
    for (op, text) in
        [(equal, "abc"), (equal, "abcdefghijklmnopq"), (Op::Cmp(Cmp::Ne), "abcdefgh"), (Op::EndsWith, "abcdefgh")]
    {
        let other = shared_rule(op, text);
        assert!(!Arc::ptr_eq(&other.code, &rules[0].1.code), "{op:?} {text}");
    }
}

#[test]
fn shared_code_is_kept_for_the_functions_used_last() {
    // Each bit of the number decides about one comparison, so each number has a shape of its own.
    let rule = |number: u32| {
        shared(&TemplateBuilder::new(false, |d| {
            let field = d.field(1);
            let test = |bit: u32| if number >> bit & 1 == 0 { Cmp::Gt } else { Cmp::Lt };
            let tests: Vec<NodeId> = (0..9)
                .map(|bit| {
                    let constant = d.int(i64::from(bit));
                    d.test(Op::Cmp(test(bit)), &[field, constant])
                })
                .collect();
            d.any(&tests)
        }))
    };
    let first = rule(0);
    (1..200).for_each(|number| drop(rule(number)));
    assert!(Arc::ptr_eq(&first.code, &rule(0).code), "fewer than 256 functions were used since");
    let code = Arc::downgrade(&first.code);
    drop(first);
    (200..400).for_each(|number| drop(rule(number)));
    assert!(code.upgrade().is_some(), "the compiler keeps it");
    (400..500).for_each(|number| drop(rule(number)));
    assert!(code.upgrade().is_none(), "others took its place, and its page is unmapped");
}
