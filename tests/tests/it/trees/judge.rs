//! The binary form of trees by another implementation of protocol buffers, with the descriptors of the CEL
//! specification. `cel_go.rs` judges the JSON.

use super::{KINDS, read_again};
use celero::trees::{Tree, TreeKind};
use celero::{Engine, Env};
use celero_tests::conformance::suite::Suite;
use celero_tests::generate::Generator;
use celero_tests::{messages, shared};
use prost_reflect::prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, ReflectMessage as _};

fn types() -> Option<[MessageDescriptor; 2]> {
    let file = shared::find("conformance/descriptors.binpb", "trees by the descriptors of the specification")?;
    let pool = DescriptorPool::decode(std::fs::read(file).unwrap().as_slice()).unwrap();
    Some(["cel.expr.ParsedExpr", "cel.expr.CheckedExpr"].map(|name| pool.get_message_by_name(name).unwrap()))
}

fn of(kind: TreeKind, types: &[MessageDescriptor; 2]) -> MessageDescriptor {
    types[KINDS.iter().position(|own| *own == kind).unwrap()].clone()
}

/// The judge knows all fields of a tree, and what it writes is read as the same tree. Its reader
/// takes 100 levels.
fn judge(tree: &Tree, types: &[MessageDescriptor; 2], source: &str) -> bool {
    let ty = of(tree.kind(), types);
    let bytes = tree.to_bytes();
    let judged = match DynamicMessage::decode(ty, bytes.as_slice()) {
        Err(error) if error.to_string().contains("recursion limit") => return false,
        judged => judged.unwrap_or_else(|error| panic!("{source}: {error}")),
    };
    assert!(judged.unknown_fields().next().is_none(), "{source}");
    let limits = celero::Limits::default().source;
    let from_judge = Tree::from_bytes(tree.kind(), &judged.encode_to_vec(), &limits);
    let from_judge = from_judge.unwrap_or_else(|error| panic!("{source}: {error}"));
    // The judge writes the entries of maps in another order.
    let again = DynamicMessage::decode(judged.descriptor(), from_judge.to_bytes().as_slice()).unwrap();
    assert!(again == judged, "{source}");
    true
}

#[test]
fn the_judge_reads_random_trees() {
    let Some(types) = types() else { return };
    let engine = Engine::new();
    let mut generator = Generator::new(31);
    let (mut judged, mut all) = (0, 0);
    for _ in 0..1_000 {
        let case = generator.case();
        let Ok(trees) = read_again(&engine, &case.env(), &case.source) else { continue };
        for tree in &trees {
            all += 1;
            judged += usize::from(judge(tree, &types, &case.source));
        }
    }
    assert!(judged * 10 > all * 8, "{judged} of {all} trees are judged");
}

#[test]
fn the_judge_reads_the_trees_of_the_conformance_suite() {
    let Some(types) = types() else { return };
    let Some(dir) = shared::find("conformance", "trees of the conformance suite") else { return };
    let (engine, suite) = (Engine::new(), Suite::read(&dir).unwrap());
    let mut judged = 0;
    for case in &suite.cases {
        let env =
            case.variables.iter().fold(
                Env::dynamic().container(&case.container).messages(&messages::types().types),
                |env, (name, ty)| env.variable(name, ty.clone()),
            );
        let Ok(rule) = engine.check(&env, &case.expr) else { continue };
        let trees = read_again(&engine, &env, &case.expr).unwrap();
        for tree in &trees {
            judged += usize::from(judge(tree, &types, &case.expr));
            let again = engine.check_tree(&env, tree).unwrap_or_else(|error| panic!("{}: {error}", case.expr));
            assert_eq!(again.result_type(), rule.result_type(), "{}", case.expr);
        }
    }
    assert!(judged > 4_000, "{judged} trees are judged");
}
