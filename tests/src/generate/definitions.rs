//! The functions defined in CEL that generated programs call.

use super::host::Function;
use celero::Env;
use std::sync::LazyLock;

/// Declarations and bodies. Some call others, some bring variables of macros whose names generated
/// programs use too, some leave a parameter alone or use it twice, some catch errors of their
/// arguments.
const DEFINITIONS: &[(&str, &str)] = &[
    ("gen.twice(n: int) -> int", "n + n"),
    ("gen.pick(c: bool, a, b)", "c ? a : b"),
    ("gen.either(a: bool, b: bool) -> bool", "a || b || gen.twice(1) == 3"),
    ("gen.first(a: string, b: int) -> string", "a"),
    ("gen.one(a) -> int", "1"),
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
    ("gen.claim(token: string)", "default(unvalidatedJwtPayload(token).a, token.size())"),
    ("gen.safe(x, y) -> bool", "coalesce(x == gen.twice(y), y == null, false)"),
    ("string.tagged(n: int) -> string", "this + string(gen.twice(n))"),
    ("list(int).shifted(by: int) -> list(int)", "this.map(x, x + by)"),
    ("gen.near(y: list(int), d: int) -> list(int)", "y.shifted(gen.twice(d)).filter(x, y.exists(z, z == x - d))"),
];

/// The environment with these functions.
pub(super) fn define<C>(env: Env<C>) -> Env<C> {
    DEFINITIONS.iter().fold(env, |env, (declaration, body)| env.define(declaration, body))
}

/// They, as the checker sees them.
pub(super) static FUNCTIONS: LazyLock<Vec<Function>> = LazyLock::new(|| {
    let env = define(Env::dynamic());
    env.declarations().definitions().iter().map(|d| Function::new(d.name(), d.signature())).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_can_be_defined() {
        assert_eq!(define(Env::dynamic()).problems(), []);
        assert_eq!(FUNCTIONS.len(), DEFINITIONS.len());
    }
}
