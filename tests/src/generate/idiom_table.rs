//! The table of conditions that are written by hand, with what they are made of.

use super::expression::Writer;
use super::{Group, literal, types};
use Group::{Error, Helper, Operation as Op};
use celero_frontend::Type;

/// The lines of the table that an idiom is there for, as far as it is there for any, and how it is written.
pub(super) type Idiom = (&'static [(Group, &'static str)], fn(&mut Writer<'_>) -> String);

/// The parts of a variable.
fn split(w: &mut Writer<'_>) -> String {
    let subject = w.variable(&Type::String).unwrap_or_else(|| w.leaf(&Type::String));
    format!("{subject}.split({})", w.rng.pick(&["'a'", "'.'", "'/'", "''", "'é'"]))
}

pub(super) const PLAIN: &[Idiom] = &[
    // Comparisons with constants.
    (&[(Op, "in_str_set"), (Helper, "str_set_has")], |w| format!("({} in {})", text(w), w.rng.pick(TEXTS))),
    (&[(Op, "in_str_set")], |w| {
        let subject = text(w);
        format!("({subject} == 'a' || {subject} == 'abc' || {subject} == 'GET' || {})", w.expr(&Type::Bool))
    }),
    (&[(Op, "in_str_set"), (Helper, "str_set_has")], |w| {
        let subject = text(w);
        let links: Vec<String> = ["a", "abc", "", "é", "GET", "b"].map(|t| format!("{subject} != '{t}'")).into();
        format!("({})", links.join(" && "))
    }),
    (&[(Op, "in_int_set"), (Helper, "int_set_has")], |w| format!("({} in [0, 1, 2, 42, -1, 64])", number(w))),
    (&[(Op, "in_int_set")], |w| format!("({} in [0, 1, 42])", number(w))),
    (&[(Op, "in_int_set")], |w| {
        let subject = number(w);
        format!("({subject} == 0 || {subject} == -1 || {subject} == 42)")
    }),
    (&[(Op, "matches_const"), (Helper, "regex_find")], |w| format!("{}.matches({})", text(w), w.rng.pick(PATTERNS))),
    (&[(Op, "wildcard_const")], |w| {
        let pattern = *w.rng.pick(&["'a*'", "'*C'", "'ABC'", "'A*c'", "'*'", "''", "'*.example.com'"]);
        format!("{}.{}({pattern})", text(w), w.rng.pick(&["wildcard", "strictWildcard"]))
    }),
    (&[(Op, "wildcard_const"), (Helper, "wildcard_matches")], |w| {
        format!("{}.{}({})", text(w), w.rng.pick(&["wildcard", "strictWildcard"]), w.rng.pick(&["'*B*'", "'a*b*c'"]))
    }),
    (&[(Op, "contains_const"), (Helper, "searcher_find")], |w| {
        format!("{}.contains({})", text(w), w.rng.pick(&["'a'", "''", "'b'", "'10.'", "'é'"]))
    }),
    (&[(Op, "starts_with")], |w| format!("{}.startsWith({})", text(w), w.rng.pick(&["'a'", "'/admin'", "''"]))),
    (&[(Op, "ends_with")], |w| format!("{}.endsWith({})", text(w), w.rng.pick(&["'c'", "'users'", "''"]))),
    (&[(Op, "cmp.eq")], |w| format!("({} == {})", text(w), w.rng.pick(&["'abc'", "'GET'", "''", LONG]))),
    (&[(Op, "cmp.ne")], |w| format!("({} != {})", text(w), w.rng.pick(&["'abc'", "'GET'", "''", LONG]))),
    (&[(Op, "cmp.eq")], |w| {
        let (number, text) = (w.expr(&Type::Int), w.rng.pick(&["'0'", "'-1'", "'42'", "'042'", "'-0'", "'1e3'", "''"]));
        format!("(string({number}) == {text})")
    }),
    // Comparisons, sums and products of what is held in registers.
    (&[(Op, "starts_with"), (Helper, "bytes_starts_with")], |w| format!("{}.startsWith({})", text(w), text(w))),
    (&[(Op, "ends_with"), (Helper, "bytes_ends_with")], |w| format!("{}.endsWith({})", text(w), text(w))),
    (&[(Helper, "string_matches")], |w| format!("{}.matches({})", text(w), text(w))),
    (&[(Helper, "string_contains")], |w| format!("{}.contains({})", text(w), text(w))),
    (&[(Op, "cmp.ne"), (Helper, "bytes_equal")], |w| format!("({} != {})", text(w), text(w))),
    (&[(Op, "cmp.lt"), (Helper, "bytes_compare")], |w| format!("({} < {})", text(w), text(w))),
    (&[(Helper, "string_add")], |w| format!("({} + 'a' == {})", text(w), text(w))),
    (&[(Helper, "split_part")], |w| {
        let (parts, index) = (split(w), w.rng.pick(&["0", "1", "2", "-1"]));
        format!("({parts}[{index}] == {})", text(w))
    }),
    (&[(Helper, "split_count")], |w| format!("({}.size() > 1)", split(w))),
    (&[(Helper, "string_size")], |w| format!("({}.size() > 2)", text(w))),
    (&[(Op, "as_bytes"), (Helper, "bytes_equal")], |w| format!("(bytes({}) == bytes({}))", text(w), text(w))),
    (&[(Op, "as_bytes"), (Helper, "bytes_add")], |w| format!("(bytes({}) + b'a' < {})", text(w), w.expr(&Type::Bytes))),
    (&[(Op, "arith.add"), (Op, "cmp.ge")], |w| binary(w, "+", ">=")),
    (&[(Op, "arith.sub"), (Op, "cmp.le")], |w| binary(w, "-", "<=")),
    (&[(Op, "arith.mul"), (Op, "cmp.gt")], |w| binary(w, "*", ">")),
    (&[(Op, "arith.div"), (Op, "cmp.ne")], |w| binary(w, "/", "!=")),
    (&[(Op, "arith.rem"), (Op, "cmp.eq")], |w| format!("({} % 7 == {} % 2)", number(w), number(w))),
    (&[(Op, "neg"), (Op, "cmp.lt")], |w| format!("(-{} < 5)", number(w))),
    (&[(Op, "neg"), (Op, "cmp.le")], |w| format!("(-{} <= 0.5)", of(w, &Type::Double))),
    (&[(Op, "time.add")], |w| format!("(timestamp({}) + duration('1h') > timestamp(0))", of(w, &Type::Timestamp))),
    (&[(Op, "time.sub")], |w| format!("(timestamp({}) - duration('1h') < timestamp(0))", of(w, &Type::Timestamp))),
    (&[(Op, "time.since")], |w| format!("(timestamp({}) - timestamp(0) < duration('1h'))", of(w, &Type::Timestamp))),
    (&[(Helper, "value_new")], |w| {
        // Short, as it stands there so often.
        let subject = w.variable(&Type::Int).unwrap_or_else(|| w.leaf(&Type::Int));
        let elements: Vec<String> = (0..70).map(|i| format!("{subject} - {i}")).collect();
        format!("([{}].size() == 70)", elements.join(", "))
    }),
    (&[], |w| {
        let ty = types::any(w.rng, 1);
        format!("({} == {})", w.expr(&ty), w.expr(&ty))
    }),
    // The host's data.
    (&[(Op, "in_cidr")], |w| format!("cidr({}).containsIP({})", w.rng.pick(NETWORKS), address(w))),
    (&[(Op, "ip_text"), (Helper, "ip_text")], |w| format!("({} == '10.0.0.1')", address(w))),
    (&[(Op, "ip_text"), (Helper, "ip_text")], |w| format!("({} < {})", address(w), text(w))),
    (&[(Op, "header"), (Op, "require"), (Helper, "header_get")], header),
    (&[(Op, "decode"), (Helper, "header_text")], header),
    // Both the bytes and the text of one header are read.
    (&[(Op, "decode"), (Helper, "text_decode")], |w| {
        let line = format!("{}[{}]", headers(w), w.rng.pick(KEYS));
        format!("({line}.size() == 1 || {line}.startsWith('x'))")
    }),
    (&[], view),
    (&[(Op, "is_present")], |w| format!("({} in {})", w.rng.pick(KEYS), headers(w))),
    (&[(Op, "is_present")], |w| format!("has({}.{})", headers(w), w.rng.pick(literal::FIELDS))),
    (&[(Helper, "has")], |w| {
        let ty = Type::map(Type::String, Type::Int);
        format!("has({}.{})", w.expr(&ty), w.rng.pick(literal::FIELDS))
    }),
    (&[(Op, "entry"), (Op, "has_entry"), (Helper, "entry_of_text")], |w| entry(w, |key, _| *key == Type::String)),
    (&[(Op, "has_entry"), (Helper, "entry_of_number")], |w| entry(w, |key, _| *key != Type::String)),
    (&[(Op, "entry_value"), (Helper, "entry_value")], |w| {
        entry(w, |_, value| matches!(value, Type::List(_) | Type::Map(_)))
    }),
    (&[(Op, "has_field"), (Helper, "field_has"), (Group::Syntax, "has variable")], |w| {
        let qualified = |n: &&str| n.contains('.');
        let mut names: Vec<&str> = w.variables.iter().map(|v| v.name.as_str()).filter(qualified).collect();
        // Those of an option that only the host reads.
        if w.rng.chance(40) && names.iter().any(|name| name.starts_with("visitor.")) {
            names.retain(|name| name.starts_with("visitor."));
        }
        if names.is_empty() { header(w) } else { format!("has({})", w.rng.pick(&names)) }
    }),
    // Errors of each kind.
    (&[(Error, "no_such_key")], |w| format!("({{'b': {}}}.a == 1)", number(w))),
    (&[(Error, "no_such_field")], |w| format!("(dyn({}).a == 1)", number(w))),
    (&[(Error, "no_such_overload")], |w| format!("has(dyn({}).a)", text(w))),
    (&[(Error, "no_such_overload")], |w| format!("(dyn({}) + dyn({}) == 1)", text(w), number(w))),
    (&[(Error, "divide_by_zero")], |w| format!("({} / 0 == 1)", number(w))),
    (&[(Error, "divide_by_zero")], |w| format!("({} / {} >= 0)", number(w), number(w))),
    (&[(Error, "modulus_by_zero")], |w| format!("({} % 0 == 1)", number(w))),
    (&[(Error, "modulus_by_zero")], |w| format!("({} % {} == 0)", number(w), number(w))),
    (&[(Error, "overflow")], |w| format!("({} + 9223372036854775807 > 0)", number(w))),
    (&[(Error, "invalid_argument")], |w| format!("(int({}) == 42)", text(w))),
    (&[(Error, "invalid_argument")], |w| format!("(timestamp({}) == timestamp(0))", text(w))),
    (&[(Error, "invalid_argument")], |w| format!("(lists.range(3)[{}] == 1)", number(w))),
    (&[(Error, "duplicate_key")], |w| {
        let key = text(w);
        format!("({{{key}: 1, {key}: 2}}.size() == 2)")
    }),
    (&[(Error, "duplicate_key")], |w| format!("({{{}: 1, {}: 2}} == {{}})", number(w), number(w))),
    (&[(Error, "host")], |w| format!("(host.refuse({}) == 1)", number(w))),
    (&[(Group::Absorbed, "host")], |w| format!("(host.refuse({}) == 1 && {})", text(w), w.expr(&Type::Bool))),
    (&[(Error, "failed"), (Group::Passed, "failed")], |w| format!("({} == 1 || fail('a'))", number(w))),
    (&[(Group::Caught, "failed"), (Group::Absorbed, "failed")], |w| format!("fail({})", text(w))),
    (&[(Group::Caught, "host"), (Group::Passed, "host")], |w| format!("(host.refuse({}) == 1)", w.expr(&Type::Dyn))),
    (&[(Group::Caught, "duplicate_key"), (Group::Passed, "duplicate_key")], |w| {
        format!("({{{}: 1, {}: 2}} == {{}})", of(w, &Type::Bool), of(w, &Type::Bool))
    }),
    // What catches errors, over what is a constant, typed, or dynamic.
    (&[(Op, "default"), (Group::Syntax, "default")], |w| format!("(default({}, 'b') == {})", part(w), text(w))),
    (&[(Op, "default")], |w| format!("(default({} / {}, 7) == 7)", number(w), number(w))),
    (&[(Group::Syntax, "default of a dyn")], |w| format!("(default({}, {}) == 'b')", w.document(false), text(w))),
    (&[(Op, "coalesce"), (Group::Syntax, "coalesce")], |w| {
        format!("(coalesce({}, {} + {}, 5) > 1)", number(w), number(w), number(w))
    }),
    (&[(Op, "coalesce")], |w| format!("coalesce({}, {}, {})", failing(w), w.expr(&Type::Bool), failing(w))),
    (&[(Group::Syntax, "coalesce of a dyn")], |w| {
        format!("(coalesce({}, {}, null) == {})", w.document(false), w.expr(&Type::Dyn), text(w))
    }),
    (&[(Group::Syntax, "coalesce of one")], |w| format!("(coalesce({}) != null)", w.expr(&Type::Dyn))),
    (&[(Group::Syntax, "with")], |w| bound(w, Type::String)),
    (&[(Group::Syntax, "with of a dyn")], |w| bound(w, Type::Dyn)),
    (&[(Group::Syntax, "bind of a dyn")], |w| {
        let init = w.expr(&Type::Dyn);
        w.within(&[("x", Type::Dyn)], |w| format!("cel.bind(x, {init}, {})", w.expr(&Type::Bool)))
    }),
    // Documents, of which parts are read, or the whole.
    (&[(Op, "project"), (Helper, "json_project")], |w| format!("(json({}){} == {})", source(w), path(w), text(w))),
    (&[(Op, "project")], |w| format!("has(json({}){}.{})", source(w), path(w), w.rng.pick(literal::FIELDS))),
    (&[(Op, "project")], |w| {
        let source = source(w);
        format!("(json({source}){} == json({source}){})", path(w), path(w))
    }),
    (&[(Op, "project")], |w| {
        format!("json({}).with(x, default(x{}, 1) == 1 || x{}.size() > 1)", source(w), path(w), path(w))
    }),
    (&[(Op, "project")], |w| format!("json({}){}.exists(x, x == {})", source(w), path(w), w.expr(&Type::Dyn))),
    (&[(Op, "project")], |w| format!("(toJson(json({}){}) == {})", source(w), path(w), text(w))),
    (&[(Op, "find"), (Op, "reach"), (Group::Node, "found"), (Helper, "json_find")], |w| {
        format!("(json({}){} == {})", source(w), chain(w), text(w))
    }),
    (&[(Op, "reach"), (Group::Node, "found")], |w| format!("(json({}){} != {})", source(w), chain(w), number(w))),
    (&[(Helper, "json_parse")], |w| format!("(toJson(json({})) == {})", source(w), text(w))),
    (&[(Helper, "json_parse")], |w| format!("(json({}) == json({}))", source(w), source(w))),
    (&[], |w| format!("(unvalidatedJwtPayload({}){} == 'x')", text(w), path(w))),
    (&[(Group::Intermediate, "null")], |w| format!("(host.yes() ? {} == null : false)", w.expr(&Type::Dyn))),
];

const LONG: &str = "'a text that is longer than what is compared in line, by some bytes'";
const TEXTS: &[&str] = &[
    "['a', 'b', 'abc', 'GET']",
    "['a', 'b', 'abc', 'GET', '42', 'é']",
    "['a']",
    "['/admin/users', '', 'é']",
    "[]",
    "{'a': 1, 'b': 2, 'c': 3}",
    "['a', 1, 'b']",
];
const PATTERNS: &[&str] =
    &["'a'", "'^a'", "'b+$'", "'(?i)ABC'", "'[a-c]{2,}'", "'é.'", "'^$'", "''", r"r'^\d+'", "'['"];
const NETWORKS: &[&str] = &[
    "'10.0.0.0/8'",
    "'0.0.0.0/0'",
    "'192.168.1.0/24'",
    "'10.0.0.8/29'",
    "'10.0.0.1/32'",
    "'2001:db8::/32'",
    "'2001:db8::4/126'",
    "'2001:db8::5/128'",
    "'2000::/3'",
    "'::/0'",
];
const KEYS: &[&str] = &["'a'", "'b'", "'c'", "'A'", "'missing'", "'no header'", "''"];

/// A value of a type, mostly a variable.
pub(super) fn of(w: &mut Writer<'_>, ty: &Type) -> String {
    w.variable(ty).filter(|_| w.rng.chance(75)).unwrap_or_else(|| w.expr(ty))
}

fn text(w: &mut Writer<'_>) -> String {
    of(w, &Type::String)
}

fn number(w: &mut Writer<'_>) -> String {
    of(w, &Type::Int)
}

/// Numbers, with literals, in registers from the first to the last.
fn binary(w: &mut Writer<'_>, arithmetic: &str, comparison: &str) -> String {
    match w.rng.below(3) {
        0 => format!("({} {arithmetic} 3 {comparison} {})", number(w), number(w)),
        1 => format!("({} {arithmetic} 3u {comparison} 5u)", of(w, &Type::Uint)),
        _ => format!("({} {arithmetic} 0.5 {comparison} 1.0)", of(w, &Type::Double)),
    }
}

/// A variable that holds an address, or text.
fn address(w: &mut Writer<'_>) -> String {
    let addresses = w.variables.iter().filter(|v| v.name.starts_with("peer") && v.ty == Type::String);
    let addresses: Vec<&str> = addresses.map(|v| v.name.as_str()).collect();
    if addresses.is_empty() { text(w) } else { (*w.rng.pick(&addresses)).to_owned() }
}

/// A test of an entry of a variable that is a map with such types of keys and values.
fn entry(w: &mut Writer<'_>, fits: fn(&Type, &Type) -> bool) -> String {
    let maps = w.variables.iter().filter_map(|v| match &v.ty {
        Type::Map(types) if fits(&types.0, &types.1) => Some((v.name.clone(), types.0.clone(), types.1.clone())),
        _ => None,
    });
    let maps: Vec<_> = maps.collect();
    if maps.is_empty() {
        return header(w);
    }
    let (map, key, value) = w.rng.pick(&maps).clone();
    let key = if key == Type::String && w.rng.chance(70) { (*w.rng.pick(KEYS)).to_owned() } else { w.expr(&key) };
    match w.rng.below(4) {
        0 => format!("({key} in {map})"),
        1 => format!("(({key} in {map}) && {map}[{key}] == {})", w.expr(&value)),
        _ => format!("({map}[{key}] == {})", w.expr(&value)),
    }
}

fn headers(w: &mut Writer<'_>) -> String {
    let ty = Type::map(Type::String, Type::String);
    w.variable(&ty).unwrap_or_else(|| w.expr(&ty))
}

/// A test of a header.
fn header(w: &mut Writer<'_>) -> String {
    let mut headers = headers(w);
    if w.rng.chance(15) {
        headers += w.rng.pick::<&str>(&[".join()", ".redacted()", ".raw().join()"]);
    }
    let value = match w.rng.below(3) {
        0 => format!("{headers}.{}", w.rng.pick(literal::FIELDS)),
        1 => format!("{headers}[{}]", w.rng.pick(KEYS)),
        _ => format!("{headers}[?{}].orValue('b')", w.rng.pick(KEYS)),
    };
    match w.rng.below(9) {
        0 => format!("({value} == {})", w.rng.pick(&["'a'", "'abc'", r"'a\ufffdb'"])),
        1 => format!("({value} != 'b')"),
        2 => format!("{value}.startsWith('a')"),
        3 => format!("{value}.endsWith('c')"),
        4 => format!("{value}.contains('b')"),
        5 => format!("{value}.matches({})", w.rng.pick(PATTERNS)),
        6 => format!("({value} in {})", w.rng.pick(TEXTS)),
        7 => format!("({value}.size() > 1)"),
        _ => format!("({value} + 'a' < {})", text(w)),
    }
}

/// A test of a header, or of all, in another form.
fn view(w: &mut Writer<'_>) -> String {
    let headers = headers(w);
    let form = *w.rng.pick(&[".raw()", ".split()", ".redacted().raw()", ".split().redacted()", ".join().split()"]);
    match w.rng.below(7) {
        0 => format!("({headers}{form}[{}] == ['a', 'b'])", w.rng.pick(KEYS)),
        1 => format!("{headers}{form}.exists(k, v, v.exists(e, e == {}))", text(w)),
        2 => format!("({headers}{form}.{}.size() > 1)", w.rng.pick(literal::FIELDS)),
        3 => format!("({headers}{form} == {headers}.raw())"),
        4 => format!("({headers}.cookie({}) < 'b')", w.rng.pick(KEYS)),
        5 => format!("({} in {headers}{form})", w.rng.pick(KEYS)),
        _ => format!("({}.query({}).size() > 0)", text(w), w.rng.pick(KEYS)),
    }
}

/// An entry of a map, or a header.
fn part(w: &mut Writer<'_>) -> String {
    format!("{}.{}", headers(w), w.rng.pick(literal::FIELDS))
}

/// A condition that mostly ends with an error.
pub(super) fn failing(w: &mut Writer<'_>) -> String {
    match w.rng.below(5) {
        0 => format!("(1 / {} > 0)", number(w)),
        1 => format!("fail({})", text(w)),
        2 => format!("(host.refuse({}) == 1)", text(w)),
        3 => format!("{} == 'a'", part(w)),
        _ => format!("(json({}){} == 1)", source(w), path(w)),
    }
}

/// A condition on what is bound to a name.
fn bound(w: &mut Writer<'_>, ty: Type) -> String {
    let init = of(w, &ty);
    w.within(&[("x", ty)], |w| format!("{init}.with(x, {})", w.expr(&Type::Bool)))
}

/// The text of a document, mostly in a variable.
fn source(w: &mut Writer<'_>) -> String {
    let ty = if w.rng.chance(50) { Type::String } else { Type::Bytes };
    of(w, &ty)
}

/// A way into a document by names alone.
fn chain(w: &mut Writer<'_>) -> String {
    (0..=w.rng.below(3)).map(|_| *w.rng.pick(&[".a", ".b", ".c"])).collect()
}

/// A way into a document, of at least one step.
fn path(w: &mut Writer<'_>) -> String {
    let mut path = String::new();
    for _ in 0..1 + w.rng.below(3) {
        path += match w.rng.below(9) {
            0..3 => ".a",
            3..5 => ".b",
            5 => "['c']",
            6 => "[0]",
            7 => "[1]",
            _ => "[?'a'].orValue({'b': 'x'})",
        };
    }
    path
}
