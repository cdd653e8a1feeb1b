//! The functions defined in CEL that generated programs may call.
#![expect(clippy::expect_used, reason = "the functions are written below")]

use celero::Env;
use celero_frontend::{Declarations, FunctionDeclaration, Limits, define as check_definition};
use std::sync::LazyLock;

/// Declarations and bodies. Some call others, some bring variables of macros whose names generated programs use too, some
/// leave a parameter alone or use it twice.
const DEFINITIONS: &[(&str, &str)] = &[
    ("gen.twice(n: int) -> int", "n + n"),
    ("gen.pick(c: bool, a, b)", "c ? a : b"),
    ("gen.either(a: bool, b: bool) -> bool", "a || b || gen.twice(1) == 3"),
    ("gen.first(a: string, b: int) -> string", "a"),
    ("gen.text(x) -> string", "x"),
    ("gen.same(a, b) -> bool", "a == b"),
    ("gen.half(d: double) -> double", "d / 2.0 + d"),
    ("gen.sum(a: uint, b: uint) -> uint", "a + b"),
    ("gen.later(t: timestamp, d: duration) -> timestamp", "t + d"),
    ("gen.longer(d: duration) -> duration", "d + d"),
    ("gen.repeat(b: bytes) -> bytes", "b + b"),
    ("gen.family(a: net.IP) -> int", "a.family()"),
    ("gen.some(o: optional_type(int)) -> optional_type(int)", "o.optMap(x, gen.twice(x))"),
    ("gen.keys(m: map(string, dyn)) -> list(string)", "m.map(x, gen.first(x, m.size()))"),
    ("string.tagged(n: int) -> string", "this + string(gen.twice(n))"),
    ("list(int).shifted(by: int) -> list(int)", "this.map(x, x + by)"),
    ("gen.near(y: list(int), d: int) -> list(int)", "y.shifted(gen.twice(d)).filter(x, y.exists(z, z == x - d))"),
];

static DECLARED: LazyLock<(Declarations, Vec<FunctionDeclaration>)> = LazyLock::new(|| {
    let mut declarations = Declarations::new();
    let mut all = Vec::new();
    for (declaration, body) in DEFINITIONS {
        let declaration = FunctionDeclaration::parse(declaration).expect("a declaration");
        let definition = check_definition(&declarations, &declaration, body, &Limits::default());
        declarations.add_definition(definition.expect("a body"));
        all.push(declaration);
    }
    (declarations, all)
});

/// Declarations of these functions and nothing else.
pub(super) fn declarations() -> Declarations {
    DECLARED.0.clone()
}

/// The functions.
pub(super) fn all() -> &'static [FunctionDeclaration] {
    &DECLARED.1
}

/// The environment with the functions that programs may call.
#[must_use]
pub fn define<C>(env: Env<C>) -> Env<C> {
    DEFINITIONS.iter().fold(env, |env, (declaration, body)| env.define(declaration, body))
}
