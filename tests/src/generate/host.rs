//! Functions of the host that generated programs call: of each kind that an embedder can declare.

use celero::values::{Duration, List, Map, Timestamp};
use celero::{Env, Value};
use celero_frontend::{Signature, Type};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::LazyLock;

/// What equal calls give is equal, that of the impure ones too, so that results can be compared.
pub(super) fn functions<C>(env: Env<C>) -> Env<C> {
    env.pure_function("host.twice", |n: i64| n.checked_mul(2).ok_or("too large"))
        .pure_function("host.half", |n: u64| n / 2)
        .pure_function("host.third", |x: f64| x / 3.0)
        .pure_function("host.loud", |text: &str| text.to_uppercase())
        .pure_function("host.flip", |bytes: &[u8]| bytes.iter().rev().copied().collect::<Vec<u8>>())
        .pure_function("host.kind", |value: Value<'_>| value.type_name().to_owned())
        .pure_function("host.any", |n: i64| if n % 2 == 0 { Value::Int(n) } else { Value::String("odd") })
        .pure_function("host.refuse", |_: Value<'_>| Err::<i64, _>("refused"))
        .pure_function("host.minute", |time: Timestamp| Duration(time.seconds.rem_euclid(60)))
        .pure_function("host.past", |span: Duration| Timestamp { seconds: span.0 / 2_000_000_000, nanos: 0 })
        .pure_function("host.gateway", |ip: IpAddr| match ip {
            IpAddr::V4(ip) => IpAddr::V4(Ipv4Addr::from(u32::from(ip) & 0xffff_ff00)),
            other => other,
        })
        .pure_function("host.count", |list: List<'_>| i64::try_from(list.len()).map_err(|_| "too long"))
        .pure_function("host.entries", |map: Map<'_>| i64::try_from(map.len()).map_err(|_| "too long"))
        .pure_function("host.between", |n: i64, from: i64, to: i64| from <= n && n < to)
        .pure_method("under", |text: &str, root: &str| text.starts_with(root))
        .function("host.yes", || true)
        .function("host.tick", |n: i64| n.wrapping_add(1))
}

/// Those of the host, as the checker sees them.
pub(super) static FUNCTIONS: LazyLock<Vec<Function>> = LazyLock::new(|| {
    let env = functions(Env::dynamic());
    env.declarations().functions().iter().map(|f| Function::new(&f.name, &f.signature)).collect()
});

/// A function that an environment declares.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: Box<str>,
    signature: Signature,
}

impl Function {
    pub(super) fn new(name: &str, signature: &Signature) -> Self {
        Self { name: name.into(), signature: signature.clone() }
    }

    pub(super) fn result(&self) -> &Type {
        &self.signature.result
    }

    pub(super) fn params(&self) -> &[Type] {
        &self.signature.params
    }

    /// A call as source text.
    pub(super) fn call(&self, args: &[String]) -> String {
        match args {
            [receiver, rest @ ..] if self.signature.receiver => {
                format!("{receiver}.{}({})", self.name, rest.join(", "))
            }
            args => format!("{}({})", self.name, args.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_can_be_declared() {
        assert_eq!(functions(Env::dynamic()).problems(), []);
        assert!(FUNCTIONS.len() >= 17);
    }
}
