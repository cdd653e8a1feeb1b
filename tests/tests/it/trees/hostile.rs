//! Hostile and foreign trees: what is not understood is refused, with the part that it is and its place, in bounded
//! time; the same is true of bytes that are no tree.

use super::{Dynamic, KINDS, read_again};
use celero::trees::{Tree, TreeError, TreeKind};
use celero::values::Type;
use celero::{Bindings, Engine, Env, Limits, Scratch, Value};
use celero_timing::{assert_linear, cpu_time_of};

fn env() -> Dynamic {
    Env::dynamic().variable("a", Type::Int).variable("s", Type::String).variable("l", Type::list(Type::Int))
}

fn read(json: &str) -> Result<Tree, TreeError> {
    Tree::from_json(TreeKind::Parsed, json, &Limits::default().source)
}

/// The text of the tree of an expression, or why it has none.
fn text(env: &Dynamic, expr: &str) -> Result<String, String> {
    let tree = read(&format!(r#"{{"expr": {expr}}}"#)).map_err(|error| error.to_string())?;
    let rule = Engine::new().check_tree(env, &tree).map_err(|error| error.to_string())?;
    Ok(rule.source().to_owned())
}

/// A comprehension over `l` with these parts.
fn folding(init: &str, condition: &str, step: &str, result: &str) -> String {
    format!(
        r#"{{"id": 1, "comprehensionExpr": {{"iterVar": "x", "iterRange": {{"identExpr": {{"name": "l"}}}}, "accuVar": "r",
        "accuInit": {init}, "loopCondition": {condition}, "loopStep": {step}, "result": {result}}}}}"#
    )
}

const ACCU: &str = r#"{"identExpr": {"name": "r"}}"#;
const TRUE: &str = r#"{"constExpr": {"boolValue": true}}"#;
const A: &str = r#"{"identExpr": {"name": "a"}}"#;

fn call(function: &str, args: &[&str]) -> String {
    format!(r#"{{"callExpr": {{"function": "{function}", "args": [{}]}}}}"#, args.join(", "))
}

#[test]
fn what_is_not_understood_is_refused() {
    let unstrict = call("@not_strictly_false", &[ACCU]);
    let all = |predicate: &str| folding(TRUE, &unstrict, &call("_&&_", &[ACCU, predicate]), ACCU);
    let cases = [
        ("{}".to_owned(), "of no kind"),
        (r#"{"id": 7, "identExpr": {}}"#.to_owned(), "is not a name in CEL (expression 7)"),
        (r#"{"identExpr": {"name": "a b"}}"#.to_owned(), "is not a name"),
        (r#"{"identExpr": {"name": "a..b"}}"#.to_owned(), "is not a name"),
        (r#"{"identExpr": {"name": "true"}}"#.to_owned(), "is not a name"),
        (r#"{"identExpr": {"name": "@result"}}"#.to_owned(), "is not a name"),
        (r#"{"identExpr": {"name": "package"}}"#.to_owned(), "no text in CEL"),
        (r#"{"selectExpr": {"field": "f"}}"#.to_owned(), "the operand of a selection is missing"),
        (format!(r#"{{"selectExpr": {{"operand": {A}}}}}"#), "the name of a field is missing"),
        (format!(r#"{{"selectExpr": {{"operand": {A}, "field": "x`y"}}}}"#), "no text in CEL"),
        (call("", &[]), "the name of a function is missing"),
        (call("nowhere", &[A]), "undeclared function `nowhere`"),
        (call("_+_", &[A]), "the operator `_+_` has 2 operands, not 1"),
        (call("!_", &[TRUE, TRUE]), "the operator `!_` has 1 operands, not 2"),
        (call("_&&_", &[TRUE]), "the operator `_&&_` has 2 operands, not 1"),
        (call("_?_:_", &[TRUE, A]), "the operator `_?_:_` has 3 operands, not 2"),
        (call("_?._", &[A, A]), "is not the name of a field"),
        (call("@block", &[]), "is not a name"),
        (call("cel.@block", &[r#"{"listExpr": {}}"#, A]), "is not a name"),
        (call("@not_strictly_false", &[TRUE]), "is not a name"),
        // Calls that the text would make macros.
        (call("has", &[A]), "no text in CEL"),
        (call("default", &[A, A]), "no text in CEL"),
        (
            format!(
                r#"{{"callExpr": {{"target": {{"identExpr": {{"name": "l"}}}}, "function": "all", "args": [{A}, {TRUE}]}}}}"#
            ),
            "no text in CEL",
        ),
        (r#"{"constExpr": {}}"#.to_owned(), "a constant has no value"),
        (r#"{"constExpr": {"doubleValue": "NaN"}}"#.to_owned(), "CEL has no literal"),
        (r#"{"constExpr": {"doubleValue": "-Infinity"}}"#.to_owned(), "CEL has no literal"),
        (format!(r#"{{"listExpr": {{"elements": [{A}], "optionalIndices": [1]}}}}"#), "the number of no element"),
        (format!(r#"{{"listExpr": {{"elements": [{A}], "optionalIndices": [-1]}}}}"#), "the number of no element"),
        (r#"{"structExpr": {"entries": [{}]}}"#.to_owned(), "the key of an entry is missing"),
        (
            format!(r#"{{"structExpr": {{"entries": [{{"fieldKey": "f", "value": {A}}}]}}}}"#),
            "the other kind of literal",
        ),
        (format!(r#"{{"structExpr": {{"entries": [{{"mapKey": {A}}}]}}}}"#), "the value of an entry is missing"),
        (r#"{"structExpr": {"messageName": "no.Message"}}"#.to_owned(), "undeclared type `no.Message`"),
        (r#"{"comprehensionExpr": {}}"#.to_owned(), "the range of a comprehension is missing"),
        // Comprehensions of other forms: a sum, and forms that are nearly those of macros.
        (
            folding(r#"{"constExpr": {"int64Value": 0}}"#, TRUE, &call("_+_", &[ACCU, A]), ACCU),
            "not the expansion of a macro",
        ),
        (folding(TRUE, &unstrict, &call("_&&_", &[TRUE, ACCU]), ACCU), "not the expansion of a macro"),
        (folding(TRUE, &unstrict, &call("_||_", &[ACCU, TRUE]), ACCU), "not the expansion of a macro"),
        (folding(TRUE, &unstrict, &call("_&&_", &[ACCU, TRUE]), TRUE), "not the expansion of a macro"),
        (folding(TRUE, &call("@not_strictly_false", &[TRUE]), &call("_&&_", &[ACCU, TRUE]), ACCU), "not the expansion"),
        // The predicate reads what is accumulated.
        (all(ACCU), "accumulates the result"),
        (all(&call("!_", &[ACCU])), "accumulates the result"),
        (
            r#"{"id": 4, "listExpr": {"elements": [{"id": 4, "constExpr": {"nullValue": null}}]}}"#.to_owned(),
            "two expressions have the same id (expression 4)",
        ),
    ];
    for (expr, message) in &cases {
        let found = text(&env(), expr);
        assert!(found.as_ref().is_err_and(|error| error.contains(message)), "{expr}\n{found:?}\n{message}");
    }
    // With these parts it is a macro.
    assert_eq!(text(&env(), &all(&call("_>_", &[r#"{"identExpr": {"name": "x"}}"#, A]))).unwrap(), "l.all(x, x > a)");
}

#[test]
fn what_is_no_tree_is_refused() {
    let cases = [
        ("", "expected `{`"),
        ("{", "expected `\"`"),
        ("{}", "the tree has no expression"),
        ("{} {}", "expected the end"),
        (r#"{"expr": {"id": 1, "id": 2}}"#, "given although"),
        (r#"{"expr": {"identExpr": {"name": "a"}, "constExpr": {"boolValue": true}}}"#, "given although"),
        (r#"{"expr": {"constExpr": {"boolValue": true, "int64Value": 1}}}"#, "given although"),
        (r#"{"expr": {"constExpr": {"durationValue": "1s"}}}"#, "the field `durationValue` is not known"),
        (r#"{"expr": {"id": "x"}}"#, "expected a number"),
        (r#"{"expr": {"id": 1.5}}"#, "expected a whole number"),
        (r#"{"expr": {"id": 01}}"#, "expected a number"),
        (r#"{"expr": {"id": "9223372036854775808"}}"#, "64 bits"),
        (r#"{"expr": {"constExpr": {"uint64Value": -1}}}"#, "64 bits without sign"),
        (r#"{"expr": {"constExpr": {"doubleValue": 1e999}}}"#, "a number that a double can be"),
        (r#"{"expr": {"constExpr": {"bytesValue": "!"}}}"#, "bytes in base64"),
        (r#"{"expr": {"constExpr": {"stringValue": "\ud800"}}}"#, "expected a character"),
        (r#"{"expr": {"constExpr": {"stringValue": "\x"}}}"#, "expected an escape"),
        ("{\"expr\": {\"constExpr\": {\"stringValue\": \"\n\"}}}", "no control character"),
        (r#"{"expr": {"constExpr": {"boolValue": yes}}}"#, "expected `true` or `false`"),
        (r#"{"expr": {"constExpr": {"boolValue": true,}}}"#, "expected `\"`"),
        (
            r#"{"expr": {"id": 1, "constExpr": {"boolValue": true}}, "sourceInfo": {"positions": {"1": 0, "1": 5}}}"#,
            "two positions have the same id",
        ),
    ];
    let engine = Engine::new();
    for (json, message) in cases {
        let found = read(json).and_then(|tree| engine.check_tree(&env(), &tree));
        let error = found.unwrap_err().to_string();
        assert!(error.contains(message), "{json}\n{error}\n{message}");
    }
    let bytes: [(&[u8], &str); 6] = [
        (&[0x12], "ends inside a field"),
        (&[0x12, 5, 0], "ends inside a field"),
        (&[0x12, 2, 0x10, 0x80], "ends inside a field"),
        (&[0x10, 1], "a value of another type"),
        (&[0x12, 7, 0x22, 5, 0x0a, 3, 0xff, 0xff, 0xff], "not UTF-8"),
        (&[0x12, 0, 0x12, 0], "given although"),
    ];
    for (bytes, message) in bytes {
        let error = Tree::from_bytes(TreeKind::Parsed, bytes, &Limits::default().source).unwrap_err().to_string();
        assert!(error.contains(message), "{bytes:?}\n{error}\n{message}");
    }
}

/// The bytes of a tree in which selections are this deep.
fn deep(levels: usize) -> Vec<u8> {
    let varint = |mut value: usize| {
        let mut bytes = Vec::new();
        while value >= 0x80 {
            bytes.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    };
    // From the inside out: what is written before each part.
    let leaf: &[u8] = &[0x22, 3, 0x0a, 1, b'a'];
    let field: &[u8] = &[0x12, 1, b'f'];
    let mut heads = Vec::new();
    let mut size = leaf.len();
    for _ in 0..levels {
        let operand = [vec![0x0a], varint(size)].concat();
        let select = operand.len() + size + field.len();
        let whole = [vec![0x2a], varint(select)].concat();
        size = whole.len() + select;
        heads.push([whole, operand].concat());
    }
    let mut bytes = [vec![0x12], varint(size)].concat();
    heads.iter().rev().for_each(|head| bytes.extend(head));
    bytes.extend(leaf);
    (0..levels).for_each(|_| bytes.extend(field));
    bytes
}

#[test]
fn deep_and_long_trees_are_refused() {
    let (engine, limits) = (Engine::new(), Limits::default().source);
    let env = Env::dynamic().variable("a", Type::Dyn);
    let tree = Tree::from_bytes(TreeKind::Parsed, &deep(200), &limits).unwrap();
    assert!(engine.compile_tree(&env, &tree).is_ok());
    // Within what a tree of the deepest expression may take, but not within what an expression may.
    let tree = Tree::from_bytes(TreeKind::Parsed, &deep(1_000), &limits).unwrap();
    let error = engine.compile_tree(&env, &tree).unwrap_err().to_string();
    assert!(error.contains("deeper than 250 levels"), "{error}");
    for levels in [10_000, 100_000] {
        let error = Tree::from_bytes(TreeKind::Parsed, &deep(levels), &limits).unwrap_err();
        assert!(error.to_string().contains("levels deep"), "{error}");
        let json = format!("{{\"expr\": {}", "{\"selectExpr\": {\"operand\": ".repeat(levels));
        let error = Tree::from_json(TreeKind::Checked, &json, &limits).unwrap_err();
        assert!(error.to_string().contains("levels deep"), "{error}");
    }
    // Many parts: entries of a list that are empty, and positions.
    for (many, what) in [(3_000_000, "messages"), (9_000_000, "bytes")] {
        let list = [&[0x0a_u8, 0][..]].concat().repeat(many);
        let mut bytes = Vec::new();
        for number in [7_u8, 2] {
            // The list in the expression, the expression in the tree.
            let inner = if number == 7 { list.clone() } else { std::mem::take(&mut bytes) };
            bytes = vec![number << 3 | 2];
            let mut size = inner.len();
            while size >= 0x80 {
                bytes.push((size & 0x7f) as u8 | 0x80);
                size >>= 7;
            }
            bytes.push(size as u8);
            bytes.extend(inner);
        }
        let error = Tree::from_bytes(TreeKind::Parsed, &bytes, &limits).unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
    }
    // A chain that is nested to the left is one chain.
    let chain = (0..700).fold(TRUE.to_owned(), |chain, _| call("_&&_", &[&chain, TRUE]));
    let chained = text(&Env::dynamic(), &chain).unwrap();
    assert_eq!(chained, ["true"; 701].join(" && "));
    // One long list is within the limits.
    let list = |elements: usize| format!(r#"{{"listExpr": {{"elements": [{}]}}}}"#, vec![A; elements].join(","));
    assert_eq!(text(&self::env(), &list(20_000)).unwrap().len(), 20_000 * 3);
    assert!(text(&self::env(), &list(70_000)).unwrap_err().contains("nodes"));
    assert_linear("a long list", [5_000, 20_000], |elements| {
        let list = list(elements);
        cpu_time_of(|| text(&self::env(), &list))
    });
}

/// Whether a tree is taken. Then it means the text that it is shown as: that has a tree of the same meaning.
fn comes_back(engine: &Engine, tree: Result<Tree, TreeError>) -> bool {
    let Ok(rule) = tree.and_then(|tree| engine.check_tree(&env(), &tree)) else { return false };
    assert_eq!(engine.check(&env(), rule.source()).unwrap().result_type(), rule.result_type());
    let again = engine.checked_tree(&env(), &rule).unwrap();
    assert_eq!(engine.check_tree(&env(), &again).unwrap().source(), rule.source());
    true
}

#[test]
fn broken_bytes_end_with_an_error_or_mean_what_they_say() {
    let (engine, limits) = (Engine::new(), Limits::default().source);
    let source = "l.exists(x, x > a && has({'k': 1}.k)) ? optional.of(s).optMap(v, v + 'é').orValue('') : l.map(x, string(x)).join()";
    for tree in read_again(&engine, &env(), source).unwrap().iter().step_by(2) {
        let (bytes, json, mut taken) = (tree.to_bytes(), tree.to_json(), 0);
        for end in 0..bytes.len() {
            comes_back(&engine, Tree::from_bytes(tree.kind(), &bytes[..end], &limits));
        }
        for end in (0..json.len()).filter(|end| json.is_char_boundary(*end)) {
            assert!(Tree::from_json(tree.kind(), json.get(..end).unwrap(), &limits).is_err(), "{end}");
        }
        for at in (0..bytes.len()).step_by(3) {
            for change in [1, 8, 0x80] {
                let mut changed = bytes.clone();
                changed[at] ^= change;
                taken += usize::from(comes_back(&engine, Tree::from_bytes(tree.kind(), &changed, &limits)));
            }
        }
        let other = KINDS.into_iter().find(|kind| *kind != tree.kind()).unwrap();
        comes_back(&engine, Tree::from_bytes(other, &bytes, &limits));
        assert!(taken > 0, "no change of a byte gives another tree");
    }
}

#[test]
fn errors_have_their_place_in_the_source() {
    // `true &&\n  (a + s)`
    let json = r#"{"expr": {"id": 2, "callExpr": {"function": "_&&_", "args": [{"id": 1, "constExpr": {"boolValue": true}},
        {"id": 4, "callExpr": {"function": "_+_", "args": [{"id": 3, "identExpr": {"name": "a"}},
        {"id": 5, "identExpr": {"name": "s"}}]}}]}},
        "sourceInfo": {"location": "rules.cel", "lineOffsets": [8, 18], "positions": {"1": 0, "2": 5, "3": 11, "4": 13, "5": 15}}}"#;
    let error = Engine::new().check_tree(&env(), &read(json).unwrap()).unwrap_err();
    let place = error.place().unwrap();
    assert_eq!((place.id, place.line_column, place.location.as_deref()), (4, Some((2, 6)), Some("rules.cel")));
    assert!(error.to_string().ends_with("(expression 4, line 2, column 6 of rules.cel)"), "{error}");
    let diagnostics = error.compile_error().unwrap().diagnostics();
    assert_eq!(diagnostics[0].code, "no-matching-overload");
    // Without lines, or with lines in no order, there is the expression.
    for lines in ["[]", "[18, 8]"] {
        let json = json.replace("[8, 18]", lines);
        let error = Engine::new().check_tree(&env(), &read(&json).unwrap()).unwrap_err();
        assert!(error.to_string().ends_with("(expression 4 of rules.cel)"), "{error}");
    }
}

#[test]
fn checked_trees_that_mean_other_names_are_refused() {
    let engine = Engine::new();
    let env = |names: &[&str]| {
        let env = Env::dynamic().container("app");
        names.iter().fold(env, |env, name| env.variable(name, Type::Int))
    };
    let both = env(&["x", "app.x"]);
    let tree = |env: &Dynamic, source: &str| engine.checked_tree(env, &engine.check(env, source).unwrap()).unwrap();
    let limits = engine.limits().source;
    let again = |tree: &Tree| Tree::from_bytes(TreeKind::Checked, &tree.to_bytes(), &limits).unwrap();
    for (source, text) in [("x + 1", ".app.x + 1"), (".x + 1", ".x + 1"), ("[1].map(x, x + .x)", "[1].map(x, x + .x)")]
    {
        assert_eq!(engine.check_tree(&both, &again(&tree(&both, source))).unwrap().source(), text);
    }
    // The variable of the container is not there.
    let error = engine.check_tree(&env(&["x"]), &tree(&both, "x + 1")).unwrap_err();
    assert!(error.to_string().contains("undeclared"), "{error}");
    // A tree whose reference is to another name than it has; the references come first.
    let json = tree(&both, ".x").to_json();
    let other = json.replacen(r#""name":"x""#, r#""name":"app.x""#, 1);
    assert_ne!(json, other);
    let other = Tree::from_json(TreeKind::Checked, &other, &limits).unwrap();
    let error = engine.check_tree(&both, &other).unwrap_err().to_string();
    assert!(error.starts_with("the tree refers to `app.x`, which is `x` here (expression 1"), "{error}");
    // A name that is a type here, and one that is a field of another name.
    let refused = |own: &Dynamic, expr: &str, name: &str, what: &str| {
        let json = format!(r#"{{"expr": {expr}, "referenceMap": {{"2": {{"name": "{name}"}}}}}}"#);
        let tree = Tree::from_json(TreeKind::Checked, &json, &limits).unwrap();
        let error = engine.check_tree(own, &tree).unwrap_err().to_string();
        assert!(error.starts_with(&format!("the tree refers to `{name}`, which is {what} here")), "{error}");
    };
    refused(&env(&[]), r#"{"id": 2, "identExpr": {"name": "int"}}"#, "user", "`int`");
    let map = Env::dynamic().variable("a", Type::map(Type::String, Type::Int));
    let field = r#"{"id": 2, "selectExpr": {"field": "b", "operand": {"id": 1, "identExpr": {"name": "a"}}}}"#;
    refused(&map, field, "a.b", "a field");
    // `has` of a variable of the container.
    let qualified = Env::dynamic().container("app").variable("app.request.path", Type::Int);
    for source in ["has(request.path)", "has(app.request.path) && request.path > 1", "has(.app.request.path)"] {
        let own = tree(&qualified, source);
        let rule = engine.check_tree(&qualified, &again(&own)).unwrap_or_else(|error| panic!("{source}: {error}"));
        assert!(rule.source().contains("has("), "{}", rule.source());
    }
}

/// What is given twice, of which readers would take one or the other.
#[test]
fn what_is_given_twice_is_refused() {
    let twice = [
        format!(r#"{{"callExpr": {{"function": "_&&_", "args": [{TRUE}], "args": [{TRUE}]}}}}"#),
        format!(r#"{{"listExpr": {{"elements": [{A}], "optionalIndices": [0], "optional_indices": [0]}}}}"#),
    ];
    for expr in &twice {
        assert!(text(&env(), expr).unwrap_err().contains("was given before"), "{expr}");
    }
    let types = r#"{"expr": {"id": 1, "identExpr": {"name": "a"}}, "typeMap": {"1": {"primitive": "INT64"}, "1": {"primitive": "INT64"}}}"#;
    let limits = Limits::default().source;
    let tree = Tree::from_json(TreeKind::Checked, types, &limits);
    let error = tree.and_then(|tree| Engine::new().check_tree(&env(), &tree).map(drop)).unwrap_err();
    assert!(
        error.to_string().contains("two types of one expression") || error.to_string().contains("twice"),
        "{error}"
    );
}

/// The accumulator of the keys that `sortBy` collects is no variable of its key.
#[test]
fn keys_of_a_sort_read_no_accumulator() {
    let engine = Engine::new();
    let env = env();
    let rule = engine.check(&env, "l.sortBy(x, x + size(s))").unwrap();
    let json = engine.parsed_tree(&env, &rule).unwrap().to_json();
    assert!(engine.check_tree(&env, &read(&json).unwrap()).is_ok());
    let renamed = json.replace("@result", "s");
    assert_ne!(json, renamed);
    let error = engine.check_tree(&env, &read(&renamed).unwrap()).unwrap_err();
    assert!(error.to_string().contains("accumulates"), "{error}");
    assert!(text(&env, &call("@has", &[A])).is_ok());
    let of_macro = folding(
        TRUE,
        &call("@not_strictly_false", &[ACCU]),
        &call("_&&_", &[ACCU, &call("@has", &[r#"{"identExpr": {"name": "x"}}"#])]),
        ACCU,
    );
    assert!(text(&env, &of_macro).unwrap_err().contains("always present"));
}

/// Many expressions have no identifier: what a tree says of identifier 0 is about none of them.
#[test]
fn references_of_no_expression_take_no_time() {
    let limits = Limits::default().source;
    assert_linear("references of nothing", [500, 2_000], |elements| {
        let constants = vec![r#"{"constExpr": {"int64Value": "1"}}"#; elements].join(",");
        let json = format!(
            r#"{{"expr": {{"listExpr": {{"elements": [{constants}]}}}}, "referenceMap": {{"0": {{"name": "{}"}}}}}}"#,
            ".".repeat(elements * 2_000)
        );
        let tree = Tree::from_json(TreeKind::Checked, &json, &limits).unwrap();
        cpu_time_of(|| Engine::new().check_tree(&env(), &tree))
    });
}

#[test]
fn checked_trees_over_other_types_are_refused() {
    let engine = Engine::new();
    let of = |ty: Type| Env::dynamic().variable("x", ty);
    let types = [
        Type::Int,
        Type::String,
        Type::Timestamp,
        Type::Duration,
        Type::list(Type::Int),
        Type::list(Type::String),
        Type::map(Type::String, Type::Int),
        Type::map(Type::String, Type::list(Type::Bool)),
        Type::optional(Type::Int),
        Type::optional(Type::String),
        Type::Opaque("net.IP".into(), [].into()),
    ];
    for written in &types {
        let env = of(written.clone());
        let tree = engine.checked_tree(&env, &engine.check(&env, "x == x").unwrap()).unwrap();
        for own in &types {
            let found = engine.check_tree(&of(own.clone()), &tree);
            assert_eq!(found.is_ok(), own == written, "{written} as {own}: {found:?}");
        }
        assert!(engine.check_tree(&of(Type::Dyn), &tree).is_ok());
        let env = of(Type::Dyn);
        let tree = engine.checked_tree(&env, &engine.check(&env, "x == x").unwrap()).unwrap();
        assert!(engine.check_tree(&of(written.clone()), &tree).is_ok());
    }
}

#[test]
fn what_a_tree_needs_besides_is_refused() {
    let engine = Engine::new();
    let tree = |components: &str| {
        format!(
            r#"{{"expr": {A}, "sourceInfo": {{"extensions": [{{"id": "json_name", "affectedComponents": {components},
            "version": {{"major": "1"}}}}]}}}}"#
        )
    };
    for (components, is_taken) in [
        ("[]", true),
        (r#"["COMPONENT_PARSER"]"#, true),
        (r#"["COMPONENT_PARSER", "COMPONENT_RUNTIME"]"#, false),
        ("[2]", false),
        ("[77]", false),
    ] {
        let found = engine.check_tree(&env(), &read(&tree(components)).unwrap());
        assert_eq!(found.is_ok(), is_taken, "{components}: {found:?}");
    }
    // A field of an expression that no version has so far; the same in the tree around it says nothing of the meaning.
    let limits = Limits::default().source;
    let with = |field: &[u8], inside: bool| {
        let ident: &[u8] = &[0x22, 3, 0x0a, 1, b'a'];
        let expr = if inside { [ident, field].concat() } else { ident.to_vec() };
        let outside: &[u8] = if inside { &[] } else { field };
        [&[0x12, expr.len() as u8][..], &expr, outside].concat()
    };
    assert!(Tree::from_bytes(TreeKind::Parsed, &with(&[0x78, 1], false), &limits).is_ok());
    let error = Tree::from_bytes(TreeKind::Parsed, &with(&[0x78, 1], true), &limits).unwrap_err();
    assert_eq!(error.to_string(), "a part of an expression has the unknown field 15");
}

#[test]
fn what_only_celero_has_comes_back() {
    let engine = Engine::new();
    let env = Env::dynamic().variable("m", Type::map(Type::String, Type::Int)).variable("s", Type::String);
    for source in [
        "default(m.a, 1) == coalesce(m.b, 2)",
        "m.mapValues(v, v + 1).filterKeys(k, k != \"a\")",
        "[3, 1].sortBy(x, -x)",
        "math.greatest(1, 2, 3) + math.least([4, 5])",
        "cel.bind(x, s, x + x)",
        "m.transformMapEntry(k, v, v > 1, {k: v})",
        "[1].transformList(i, x, i + x)",
        "optional.of(s).optFlatMap(x, optional.of(x))",
        "[?optional.of(1), 2] == [1, 2] && {?\"a\": optional.none()} == {}",
        "m.?a.orValue(1) == m[?\"a\"].orValue(2)",
        "-9223372036854775808 < -(1) && 1.0e300 > -0.0",
        "b\"\\xff\\x00\" == bytes(\"\\u00ff\\u202e\") || s == \"a\\\"b\\\\\"",
        "type(s) == string && google.protobuf.Timestamp != int",
    ] {
        let rule = engine.check(&env, source).unwrap_or_else(|error| panic!("{error}"));
        let own = engine.compile(&env, source).unwrap();
        for tree in read_again(&engine, &env, source).unwrap() {
            let program = engine.compile_tree(&env, &tree).unwrap_or_else(|error| panic!("{source}: {error}"));
            assert_eq!(program.result_type(), rule.result_type());
            let mut bindings = Bindings::new(&env);
            bindings.set("s", Value::String("text")).unwrap();
            let (mut one, mut other) = (Scratch::new(), Scratch::new());
            let results = [own.eval(&bindings, &mut one), program.eval(&bindings, &mut other)];
            let [own, other] = results.map(|result| result.map(|value| value.to_string()).map_err(|error| error.kind));
            assert_eq!(own, other, "{source}");
        }
    }
}
