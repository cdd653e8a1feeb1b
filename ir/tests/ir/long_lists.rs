//! Lists of constants: folding of long ones, searches in short ones.

use crate::passes::{NONE, becomes};
use celero_ir::passes::Options;

/// A list of boxed constants becomes a constant if it is small enough; otherwise its elements do.
#[test]
fn folding_long_lists() {
    let fold = Options { fold: true, ..NONE };
    // Numbers from 20 on, each boxed, and a list of them that `last` ends.
    let list = |texts: &[String], last: &str| {
        let (mut lines, mut boxes) = (String::new(), String::new());
        for (id, text) in (15..).step_by(2).zip(texts) {
            lines += &format!("v{id}: {text}\nv{}: value = box v{id}\n", id + 1);
            boxes += &format!("v{}, ", id + 1);
        }
        let next = 15 + 2 * texts.len();
        lines + &last.replace("LIST", &format!("value = list {boxes}")).replace("NEXT", &next.to_string())
    };
    let numbers: Vec<String> = (20..40).map(|n| format!("int = const {n}")).collect();
    let all: Vec<String> = (20..40).map(|n| n.to_string()).collect();
    let all = all.join(", ");
    assert_eq!(becomes(fold, &list(&numbers, "vNEXT: LISTv16")), format!("const [{all}, 20]"));
    let [plain, twice] = ["v16", "vNEXT"].map(|second| format!("vNEXT: LISTv18\nv56: value = list v18, {second}"));
    assert_eq!(becomes(fold, &list(&numbers, &plain)), "const [21, 20]");
    assert_eq!(becomes(fold, &list(&numbers, &twice)), format!("const [21, [{all}, 21]]"));
    let elements = all.split(", ").map(|n| format!("(const {n})")).collect::<Vec<_>>().join(", ");
    let open = list(&numbers, "vNEXT: value = box v1\nv56: LISTvNEXT");
    assert_eq!(becomes(fold, &open), format!("list {elements}, (box (field 1))"));
    // Too large for a constant.
    let long: Vec<String> = (10..20).map(|n| format!("str = const \"{}\"", n.to_string().repeat(4096))).collect();
    let elements = long.iter().map(|text| format!("({})", text.trim_start_matches("str = "))).collect::<Vec<_>>();
    let first = elements[0].clone();
    assert_eq!(becomes(fold, &list(&long, "vNEXT: LISTv16")), format!("list {}, {first}", elements.join(", ")));
}

/// A search in a few unsigned numbers is a comparison with each; in more of them it stays.
#[test]
fn searches_in_short_lists() {
    let sets = Options { sets: true, ..NONE };
    for (list, wanted) in [
        ("[3u, 1u]", "or (cmp.eq (field 2), (const 3u)), (cmp.eq (field 2), (const 1u))"),
        ("[3u]", "cmp.eq (field 2), (const 3u)"),
        ("[3u, 1]", "call in_container (box (field 2)), (const [3u, 1])"),
        (
            "[1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u]",
            "call in_container (box (field 2)), (const [1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u])",
        ),
    ] {
        let lines = format!("v15: value = box v14\nv16: value = const {list}\nv17: bool = call in_container v15, v16");
        assert_eq!(becomes(sets, &lines), wanted, "{list}");
    }
}
