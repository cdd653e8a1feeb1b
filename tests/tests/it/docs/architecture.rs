//! `docs/pictures/architecture.svg`, drawn from the tables here. `BLESS=1` writes it anew.

use super::root;
use std::fmt::Write as _;

const GREY: &str = "#808080";
const BLUE: &str = "#2f80ed";

/// A box: left, top, width, title, caption, and the folder of the crate that makes it.
const BOXES: [(i32, i32, i32, &str, &str, &str); 8] = [
    (10, 40, 110, "text", "a rule in CEL", ""),
    (170, 40, 110, "tree", "places of all parts", "frontend"),
    (330, 40, 120, "checked tree", "types, meanings", "frontend"),
    (510, 40, 110, "graph", "equal parts once", "ir"),
    (690, 40, 120, "machine code", "Cranelift", "jit"),
    (330, 180, 120, "interpreter", "shares no stage", "runtime"),
    (495, 180, 140, "index", "rules that may match", "runtime/matching"),
    (330, 300, 480, "request", "the host's own structs, read in place", "runtime"),
];

/// An arrow from one point to another, with a label at its middle.
const ARROWS: [(i32, i32, i32, i32, &str); 9] = [
    (120, 70, 170, 70, "parse"),
    (280, 70, 330, 70, "check"),
    (450, 70, 510, 70, "lower"),
    (620, 70, 690, 70, "generate"),
    (390, 100, 390, 180, ""),
    (565, 100, 565, 180, "rules of a set"),
    (390, 300, 390, 240, ""),
    (565, 300, 565, 240, ""),
    (750, 300, 750, 100, ""),
];

fn svg() -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 820 370\" font-family=\"sans-serif\" font-size=\"13\" fill=\"{GREY}\">\n\
         <title>From the text of a rule to its result</title>\n\
         <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\
         <path d=\"M0,0 L8,4 L0,8 z\" fill=\"{GREY}\"/></marker></defs>\n"
    );
    for (x, y, width, title, caption, folder) in BOXES {
        let middle = x + width / 2;
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"60\" rx=\"6\" fill=\"{BLUE}\" fill-opacity=\"0.08\" stroke=\"{BLUE}\"/>\
             <text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\" font-weight=\"bold\" fill=\"{BLUE}\">{title}</text>\
             <text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\" font-size=\"11\">{caption}</text>\
             <text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\" font-size=\"10\" font-family=\"monospace\">{folder}</text>",
            y + 22,
            y + 38,
            y + 53,
        );
    }
    for (x1, y1, x2, y2, label) in ARROWS {
        let _ = writeln!(
            svg,
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{GREY}\" stroke-width=\"1.5\" marker-end=\"url(#head)\"/>"
        );
        let (x, y) = if y1 == y2 { ((x1 + x2) / 2, y1 - 8) } else { (x1 + 44, (y1 + y2) / 2 + 4) };
        if !label.is_empty() {
            let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" font-size=\"11\">{label}</text>");
        }
    }
    let _ = writeln!(
        svg,
        "<path d=\"M450,200 Q480,150 690,92\" fill=\"none\" stroke=\"#c2528b\" stroke-dasharray=\"5 4\"/>\
         <text x=\"474\" y=\"148\" text-anchor=\"middle\" font-size=\"11\" fill=\"#c2528b\">must agree</text>\n</svg>"
    );
    svg
}

#[test]
fn the_picture_is_the_one_of_this_version() {
    for (.., folder) in BOXES {
        assert!(folder.is_empty() || root().join(folder).join("Cargo.toml").exists(), "{folder}");
    }
    let (path, drawn) = (root().join("docs/pictures/architecture.svg"), svg());
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, &drawn).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), drawn, "run this test with BLESS=1");
}
