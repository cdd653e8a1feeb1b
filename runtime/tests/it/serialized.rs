//! Structs and maps that implement `Serialize`, bound as they are, in both tiers.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero::host::Serialized;
use celero::{Bindings, Engine, Env, ErrorKind, Tier, Type};
use serde::ser::{Error, Serialize, Serializer};
use std::cell::Cell;
use std::collections::BTreeMap;

#[derive(serde::Serialize)]
struct Claims<'a> {
    sub: &'a str,
    age: u8,
    balance: f64,
    large: u64,
    plan: Plan,
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<&'a str>,
    groups: Vec<&'a str>,
    limits: BTreeMap<u16, i64>,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "lowercase")]
enum Plan {
    Free,
    Custom { seats: u32 },
}

fn env() -> Env<Bindings<'static>> {
    let map = || Type::map(Type::String, Type::Dyn);
    Env::dynamic().variable("claims", map()).variable("other", map()).variable("n", Type::Int)
}

fn both(rule: &str, value: &impl Serialize) -> Vec<Result<bool, ErrorKind>> {
    let env = env();
    let results = [Tier::Native, Tier::Interpret].map(|tier| {
        let program = Engine::builder().tier(tier).build().compile(&env, rule).unwrap();
        let claims = Serialized::new(value);
        let mut bindings = Bindings::new(&env);
        bindings.set("claims", &claims).unwrap();
        bindings.set("n", 1).unwrap();
        [program.test(&bindings), program.test(&bindings)].map(|result| result.map_err(|error| error.kind))
    });
    results.concat()
}

#[test]
fn members_are_those_of_the_document() {
    let claims = Claims {
        sub: "ann",
        age: 41,
        balance: 0.5,
        large: u64::MAX,
        plan: Plan::Custom { seats: 7 },
        tenant: None,
        groups: vec!["a", "b"],
        limits: BTreeMap::from([(80, -1)]),
    };
    let rules = [
        "claims.sub == 'ann' && claims.age == 41 && claims.balance == 0.5 && claims.large == 18446744073709551615u",
        "claims.plan.custom.seats == 7 && !has(claims.tenant) && claims.?tenant == optional.none()",
        "'b' in claims.groups && claims.groups.map(g, g + '!') == ['a!', 'b!'] && claims.limits['80'] == -1",
        "size(claims) == 7 && claims.exists(k, k == 'sub') && 'age' in claims && !('x' in claims)",
        "claims.transformMap(k, v, k == 'sub', v) == {'sub': 'ann'}",
    ];
    for rule in rules {
        assert_eq!(both(rule, &claims), vec![Ok(true); 4], "{rule}");
    }
    assert_eq!(both("claims.missing == 1", &claims), vec![Err(ErrorKind::NoSuchKey); 4]);
    assert_eq!(both("claims == {'a': 1}", &BTreeMap::from([("a", 1)])), vec![Ok(true); 4]);
    let free = BTreeMap::from([("plan", Plan::Free)]);
    assert_eq!(both("claims.plan == 'free'", &free), vec![Ok(true); 4]);
}

#[test]
fn what_is_no_object_is_an_error_where_it_is_read() {
    struct Fails;

    impl Serialize for Fails {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(S::Error::custom("no"))
        }
    }

    for rule in ["claims.sub == 'ann'", "'sub' in claims", "claims.all(k, k == 'a')"] {
        assert_eq!(both(rule, &[1, 2]), vec![Err(ErrorKind::Host); 4], "{rule}");
        assert_eq!(both(rule, &Fails), vec![Err(ErrorKind::Host); 4], "{rule}");
    }
    assert_eq!(both("size(claims) == 0", &Fails), vec![Ok(false); 4]);
    assert_eq!(both("n == 1 || claims.sub == 'ann'", &Fails), vec![Ok(true); 4]);
}

#[test]
fn it_is_converted_once_and_only_if_a_rule_reads_it() {
    struct Counted(Cell<u32>);

    impl Serialize for Counted {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.0.set(self.0.get().saturating_add(1));
            serializer.collect_map([("a", 1), ("b", 2)])
        }
    }

    for (rule, times) in [("n == 1 || claims.a == 1", 0), ("claims.a == 1 && claims.b == 2 && size(claims) == 2", 2)] {
        let counted = Counted(Cell::new(0));
        assert_eq!(both(rule, &counted), vec![Ok(true); 4]);
        assert_eq!(counted.0.get(), times, "{rule}: once for each of two bindings");
    }
}
