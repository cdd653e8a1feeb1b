//! The functions in rules of an environment.

use celero::{Bindings, Engine, Env, Tier};

#[test]
fn functions_are_those_of_the_documentation() {
    let env = celero_protovalidate::functions(Env::dynamic());
    assert!(env.problems().is_empty(), "{:?}", env.problems());
    for (rule, expected) in [
        ("(0.0 / 0.0).isNan() && !1.0.isNan()", true),
        ("(1.0 / 0.0).isInf() && (1.0 / 0.0).isInf(1) && (-1.0 / 0.0).isInf(-1)", true),
        ("(1.0 / 0.0).isInf(-1) || (-1.0 / 0.0).isInf(1) || 1.0.isInf(0)", false),
        ("'example.com'.isHostname() && !'a_b'.isHostname()", true),
        ("'a@b'.isEmail() && !'a'.isEmail()", true),
        ("'1.2.3.4'.isIp() && '1.2.3.4'.isIp(4) && !'1.2.3.4'.isIp(6) && '::1'.isIp(6)", true),
        ("'10.0.0.0/8'.isIpPrefix() && '10.0.0.1/8'.isIpPrefix(4) && !'10.0.0.1/8'.isIpPrefix(true)", true),
        ("'::/0'.isIpPrefix(6, true) && !'::1/64'.isIpPrefix(6, true)", true),
        ("'https://a/b'.isUri() && !'/b'.isUri() && '/b'.isUriRef()", true),
        ("'a:1'.isHostAndPort(true) && !'a'.isHostAndPort(true) && 'a'.isHostAndPort(false)", true),
        ("[1, 2].unique() && !['a', 'a'].unique() && [].unique() && ![b'a', b'a'].unique()", true),
        ("b'abc'.startsWith(b'ab') && b'abc'.endsWith(b'bc') && b'abc'.contains(b'b')", true),
        ("b'abc'.contains(b'') && !b'abc'.contains(b'ac') && 'abc'.contains('b')", true),
    ] {
        for tier in [Tier::Native, Tier::Interpret] {
            let program = Engine::builder().tier(tier).build().compile(&env, rule);
            let program = program.unwrap_or_else(|error| panic!("{rule}: {error}"));
            assert_eq!(program.test(&Bindings::new(&env)), Ok(expected), "{rule}");
        }
    }
}
