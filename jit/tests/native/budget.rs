//! Budgets that the code knows beforehand.

use crate::common::{Build, run_with};
use celero_ir::layout::{Access, Elements, Field, Path, Place, Repr};
use celero_ir::{Cmp, Constant, ErrorKind, FoldKind, NodeId, Op, Ty};
use celero_jit::{Code, Compiler, Settings, Unit};

/// Whether an element of the host, a slice of integers, is this.
fn exists(b: &mut Build, wanted: i64, level: u32) -> NodeId {
    let range = b.add(Op::Elements(0), Ty::Seq, &[]);
    let element = b.add(Op::Local(level), Ty::Int, &[]);
    let constant = b.graph.constant(Constant::Int(wanted));
    let constant = b.add(Op::Const(constant), Ty::Int, &[]);
    let equal = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[element, constant]);
    let fold = Op::Fold { kind: FoldKind::Exists, level, pairs: false, filtered: false };
    b.add(fold, Ty::Bool, &[range, equal])
}

fn numbers() -> Build {
    let mut b = Build::default();
    let access = Access::Load(Path(vec![0]), Repr::I64);
    let elements =
        Elements { path: Path(vec![0]), place: Place::Words(8), stride: 8, ty: Ty::Int, access, members: None };
    b.fields.push(Field { elements: Some(elements), ..Field::new(Ty::Value, false, Access::Get) });
    b
}

fn compile(b: &mut Build, root: NodeId, steps: i64) -> Code {
    b.graph.add_root(root);
    b.with_unit(|unit| Compiler::new(&Settings::default()).unwrap().compile(&Unit { steps: Some(steps), ..*unit }))
        .unwrap()
}

#[test]
fn one_loop_does_without_the_frame() {
    let mut b = numbers();
    let root = exists(&mut b, 7, 0);
    let code = compile(&mut b, root, 4);
    assert!(code.entry(0).unwrap().context_only().is_some());
    let cases: [(&[i64], _); 6] = [
        (&[], Ok(false)),
        (&[1, 2, 3, 4], Ok(false)),
        (&[1, 2, 3, 7], Ok(true)),
        (&[1, 2, 3, 7, 5], Ok(true)),
        (&[1, 2, 3, 4, 5], Err(ErrorKind::OutOfBudget)),
        (&[1, 2, 3, 4, 7], Err(ErrorKind::OutOfBudget)),
    ];
    for (host, answer) in cases {
        let outcome = run_with(&code, 0, &host, 1);
        assert_eq!(outcome.bool(), answer, "{host:?}");
        assert_eq!(outcome.fuel, 1);
    }
}

#[test]
fn several_loops_share_the_budget_of_the_frame() {
    let mut b = numbers();
    let loops = [exists(&mut b, 7, 0), exists(&mut b, 8, 0)];
    let root = b.add(Op::Or, Ty::Bool, &loops);
    let code = compile(&mut b, root, 6);
    assert!(code.entry(0).unwrap().context_only().is_none());
    let host: &[i64] = &[1, 2, 3];
    assert_eq!(run_with(&code, 0, &host, 6).bool(), Ok(false));
    assert_eq!(run_with(&code, 0, &host, 5).bool(), Err(ErrorKind::OutOfBudget));
}

#[test]
fn a_loop_in_a_loop_is_not_passed_once() {
    let mut b = numbers();
    let inner = exists(&mut b, 7, 1);
    let range = b.add(Op::Elements(0), Ty::Seq, &[]);
    let fold = Op::Fold { kind: FoldKind::Exists, level: 0, pairs: false, filtered: false };
    let root = b.add(fold, Ty::Bool, &[range, inner]);
    let code = compile(&mut b, root, 1000);
    let host: &[i64] = &[1, 2, 3];
    assert_eq!(run_with(&code, 0, &host, 12).bool(), Ok(false));
    assert_eq!(run_with(&code, 0, &host, 11).bool(), Err(ErrorKind::OutOfBudget));
}
