//! Lists, maps, optionals, networks, and those of the host.

use super::*;

#[test]
fn lists() {
    with(|cx| {
        let l = list(cx, &[I(7), I(8), I(9)]);
        let cases = [
            (I(0), Ok(I(7))),
            (I(2), Ok(I(9))),
            (D(0.0), Ok(I(7))),
            (U(1), Ok(I(8))),
            (D(0.1), Err(InvalidArgument)),
            (D(f64::NAN), Err(InvalidArgument)),
            (D(1e300), Err(InvalidArgument)),
            (I(3), Err(InvalidArgument)),
            (I(-1), Err(InvalidArgument)),
            (I(i64::MIN), Err(InvalidArgument)),
            (U(u64::MAX), Err(InvalidArgument)),
            (S(""), Err(InvalidArgument)),
            (B(false), Err(InvalidArgument)),
        ];
        for (index, want) in cases {
            check(cx, "_[_]", &[l, index], want);
        }
        check(cx, "_[_]", &[I(1), I(0)], Err(NoSuchOverload));
        check(cx, "_+_", &[l, list(cx, &[])], Ok(l));
        check(cx, "_+_", &[list(cx, &[I(1)]), list(cx, &[S("x")])], Ok(list(cx, &[I(1), S("x")])));
        check(cx, "size", &[l], Ok(I(3)));
        for (element, want) in [(I(8), true), (D(8.0), true), (U(8), true), (S("8"), false), (N, false)] {
            check(cx, "@in", &[element, l], Ok(B(want)));
        }
        check(cx, "@in", &[I(1), I(1)], Err(NoSuchOverload));
        assert_eq!(helpers::list_len(cx, l), 3);
        assert_eq!(format!("{:?}", helpers::index_list(cx, l, 1).copied()), "Ok(Int(8))");
        assert_eq!(helpers::index_list(cx, I(1), 1).err(), Some(NoSuchOverload));
    });
}

#[test]
fn maps() {
    with(|cx| {
        let m = map(cx, &[(B(true), I(1)), (I(2), I(2)), (U(5), I(3)), (S("name"), I(1024))]);
        let cases = [
            (B(true), Ok(I(1))),
            (I(2), Ok(I(2))),
            (U(2), Ok(I(2))),
            (D(5.0), Ok(I(3))),
            (S("name"), Ok(I(1024))),
            (S("x"), Err(NoSuchKey)),
            (D(5.1), Err(NoSuchKey)),
            (Y(b""), Err(NoSuchKey)),
            (N, Err(NoSuchKey)),
        ];
        for (key, want) in cases {
            check(cx, "_[_]", &[m, key], want);
            check(cx, "@in", &[key, m], Ok(B(want.is_ok())));
            assert_eq!(format!("{:?}", helpers::index_map(cx, m, key).copied()), format!("{want:?}"));
            assert_eq!(helpers::in_container(cx, key, m), Ok(want.is_ok()));
        }
        check(cx, "size", &[m], Ok(I(4)));
        assert_eq!(helpers::size(cx, m), Ok(4));
        assert_eq!(format!("{:?}", helpers::select(cx, m, "name").copied()), "Ok(Int(1024))");
        assert_eq!(helpers::select(cx, m, "x").err(), Some(NoSuchKey));
        assert_eq!(helpers::select(cx, I(1), "x").err(), Some(NoSuchField));
        assert_eq!(helpers::has(cx, m, "name"), Ok(true));
        assert_eq!(helpers::has(cx, m, "x"), Ok(false));
        assert_eq!(helpers::has(cx, list(cx, &[]), "x"), Err(NoSuchField));

        let mut both = MapBuilder::new(cx.arena(), 0).unwrap();
        both.insert(S("name"), N).unwrap();
        let Value::Map(entries) = m else { panic!() };
        both.merge(&entries, cx).unwrap();
        assert_eq!(both.finish(cx).err(), Some(DuplicateKey));
    });
}

#[test]
fn ranges() {
    with(|cx| {
        let (l, m) = (list(cx, &[S("x"), S("y")]), map(cx, &[(I(2), S("b")), (I(1), S("a"))]));
        let show = |v: EvalResult<Value<'_>>| format!("{v:?}");
        assert_eq!(show(helpers::range_items(cx, l)), show(Ok(l)));
        assert_eq!(show(helpers::range_items(cx, m)), show(Ok(list(cx, &[I(1), I(2)]))));
        assert_eq!(show(helpers::range_pairs(cx, l)), show(Ok(list(cx, &[I(0), S("x"), I(1), S("y")]))));
        assert_eq!(show(helpers::range_pairs(cx, m)), show(Ok(list(cx, &[I(1), S("a"), I(2), S("b")]))));
        assert_eq!(helpers::range_items(cx, S("x")).err(), Some(NoSuchOverload));
        assert_eq!(helpers::range_pairs(cx, S("x")).err(), Some(NoSuchOverload));
    });
}

#[test]
fn optionals() {
    with(|cx| {
        let m = map(cx, &[(S("c"), map(cx, &[(S("index"), S("goodbye"))])), (S("null"), N), (I(1), I(10))]);
        let l = list(cx, &[S("foo")]);
        check(cx, "optional.none", &[], Ok(NONE));
        check(cx, "optional.of", &[N], Ok(some(cx, N)));
        for zero in [N, B(false), I(0), U(0), D(-0.0), S(""), Y(b""), list(cx, &[]), map(cx, &[]), span("0")] {
            check(cx, "optional.ofNonZeroValue", &[zero], Ok(NONE));
        }
        for other in [B(true), I(-1), D(f64::NAN), S("0"), l, m, NONE, at("0001-01-01T00:00:00Z")] {
            check(cx, "optional.ofNonZeroValue", &[other], Ok(some(cx, other)));
        }
        check(cx, "hasValue", &[NONE], Ok(B(false)));
        check(cx, "hasValue", &[some(cx, N)], Ok(B(true)));
        check(cx, "value", &[some(cx, I(1))], Ok(I(1)));
        check(cx, "value", &[NONE], Err(InvalidArgument));
        check(cx, "or", &[NONE, some(cx, I(1))], Ok(some(cx, I(1))));
        check(cx, "or", &[some(cx, I(2)), some(cx, I(1))], Ok(some(cx, I(2))));
        check(cx, "orValue", &[NONE, I(42)], Ok(I(42)));
        check(cx, "orValue", &[some(cx, I(2)), I(42)], Ok(I(2)));

        check(cx, "_?._", &[m, S("null")], Ok(some(cx, N)));
        check(cx, "_?._", &[m, S("missing")], Ok(NONE));
        check(cx, "_?._", &[some(cx, m), S("null")], Ok(some(cx, N)));
        check(cx, "_?._", &[NONE, S("null")], Ok(NONE));
        check(cx, "_?._", &[some(cx, N), S("invalid")], Err(NoSuchKey));
        check(cx, "_?._", &[I(1), S("x")], Err(NoSuchOverload));

        check(cx, "_[?_]", &[l, I(0)], Ok(some(cx, S("foo"))));
        check(cx, "_[?_]", &[l, D(0.0)], Ok(some(cx, S("foo"))));
        check(cx, "_[?_]", &[l, I(1)], Ok(NONE));
        check(cx, "_[?_]", &[l, I(-1)], Ok(NONE));
        check(cx, "_[?_]", &[l, S("")], Err(InvalidArgument));
        check(cx, "_[?_]", &[m, D(1.0)], Ok(some(cx, I(10))));
        check(cx, "_[?_]", &[m, I(2)], Ok(NONE));
        for name in ["_[_]", "_[?_]"] {
            check(cx, name, &[NONE, I(0)], Ok(NONE));
            check(cx, name, &[some(cx, l), I(0)], Ok(some(cx, S("foo"))));
            check(cx, name, &[some(cx, l), I(1)], Ok(NONE));
            check(cx, name, &[some(cx, m), I(1)], Ok(some(cx, I(10))));
            check(cx, name, &[some(cx, m), S("null")], Ok(some(cx, N)));
            check(cx, name, &[some(cx, m), S("x")], Ok(NONE));
            check(cx, name, &[some(cx, I(1)), I(0)], Err(NoSuchOverload));
        }
        let inner = *helpers::select(cx, some(cx, m), "c").unwrap();
        assert_eq!(
            format!("{:?}", helpers::select(cx, inner, "index").copied()),
            format!("{:?}", Ok::<_, ()>(some(cx, S("goodbye"))))
        );
        assert_eq!(helpers::has(cx, some(cx, m), "c"), Ok(true));
        assert_eq!(helpers::has(cx, some(cx, m), "x"), Ok(false));
        assert_eq!(helpers::has(cx, NONE, "x"), Ok(false));
    });
}

#[test]
fn network() {
    let ip = |text: &str| Value::Ip(text.parse().unwrap());
    let cidr = |text: &str, length| Value::Cidr(text.parse().unwrap(), length);
    with(|cx| {
        check(cx, "ip", &[S("192.168.0.1")], Ok(ip("192.168.0.1")));
        check(cx, "ip", &[S("2001:DB8::0:1")], Ok(ip("2001:db8::1")));
        for text in
            ["", "192.168.0.1.0", "192.168.0", "192.168.0.01", "fe80::1%en0", "::ffff:192.168.0.1", "::g", " ::"]
        {
            check(cx, "ip", &[S(text)], Err(InvalidArgument));
        }
        check(cx, "cidr", &[S("10.1.2.3/8")], Ok(cidr("10.1.2.3", 8)));
        check(cx, "cidr", &[S("::/0")], Ok(cidr("::", 0)));
        for text in
            ["10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/08", "10.0.0.0/+8", "10.0.0.0/8/8", "/8"]
        {
            check(cx, "cidr", &[S(text)], Err(InvalidArgument));
        }
        check(cx, "string", &[ip("2001:0db8::1")], Ok(S("2001:db8::1")));
        check(cx, "string", &[cidr("192.168.0.0", 24)], Ok(S("192.168.0.0/24")));
        assert_eq!(helpers::ip_text(cx, "::1".parse().unwrap()), Ok("::1"));
        check(cx, "type", &[ip("::")], Ok(Value::Type("net.IP")));
        check(cx, "type", &[cidr("::", 0)], Ok(Value::Type("net.CIDR")));
        let cases = [
            (cidr("192.168.0.0", 24), "192.168.0.255", true),
            (cidr("192.168.0.0", 24), "192.168.1.0", false),
            (cidr("192.168.0.77", 24), "192.168.0.1", true),
            (cidr("0.0.0.0", 0), "255.255.255.255", true),
            (cidr("0.0.0.0", 0), "::", false),
            (cidr("::", 0), "10.0.0.1", false),
            (cidr("2001:db8::", 32), "2001:db8:ffff::", true),
            (cidr("2001:db8::", 32), "2001:db9::", false),
        ];
        for (network, address, want) in cases {
            check(cx, "containsIP", &[network, ip(address)], Ok(B(want)));
            check(cx, "containsIP", &[network, S(address)], Ok(B(want)));
        }
        check(cx, "containsIP", &[cidr("::", 0), S("x")], Err(InvalidArgument));
        check(cx, "containsIP", &[ip("::"), ip("::")], Err(NoSuchOverload));
    });
}

#[derive(Debug)]
struct Squares(i64);

impl HostList for Squares {
    fn len(&self) -> usize {
        self.0 as usize
    }

    fn get<'s>(&'s self, index: usize, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        let i = index as i64;
        Ok((i < self.0).then_some(I(i.saturating_mul(i))))
    }
}

impl HostMap for Squares {
    fn len(&self) -> usize {
        self.0 as usize
    }

    fn get<'s>(&'s self, key: &Value<'_>, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(match key {
            I(i) if (0..self.0).contains(i) => Some(I(i.saturating_mul(*i))),
            _ => None,
        })
    }

    fn entry<'s>(&'s self, index: usize, _: &'s Arena) -> EvalResult<Option<(Value<'s>, Value<'s>)>> {
        let i = index as i64;
        Ok((i < self.0).then_some((I(i), I(i.saturating_mul(i)))))
    }
}

#[test]
fn containers_of_the_host() {
    with(|cx| {
        static THREE: Squares = Squares(3);
        let (l, m) = (Value::List(List::Host(&THREE)), Value::Map(Map::Host(&THREE)));
        let own = list(cx, &[I(0), I(1), I(4)]);
        let own_map = map(cx, &[(U(0), I(0)), (I(2), I(4)), (I(1), D(1.0))]);
        check(cx, "_==_", &[l, own], Ok(B(true)));
        check(cx, "_==_", &[own, l], Ok(B(true)));
        check(cx, "_==_", &[m, own_map], Ok(B(true)));
        check(cx, "_[_]", &[l, D(2.0)], Ok(I(4)));
        check(cx, "_[_]", &[l, I(3)], Err(InvalidArgument));
        check(cx, "_[_]", &[m, I(2)], Ok(I(4)));
        check(cx, "_[_]", &[m, S("x")], Err(NoSuchKey));
        check(cx, "@in", &[I(4), l], Ok(B(true)));
        check(cx, "@in", &[I(4), m], Ok(B(false)));
        check(cx, "_+_", &[l, own], Ok(list(cx, &[I(0), I(1), I(4), I(0), I(1), I(4)])));
        let keys = helpers::range_items(cx, m).unwrap();
        check(cx, "_==_", &[keys, list(cx, &[I(0), I(1), I(2)])], Ok(B(true)));
        let pairs = helpers::range_pairs(cx, m).unwrap();
        check(cx, "_==_", &[pairs, list(cx, &[I(0), I(0), I(1), I(1), I(2), I(4)])], Ok(B(true)));
        let merged = call(cx, "merge", &[m, map(cx, &[(U(2), S("b")), (I(7), N)])]).unwrap();
        check(cx, "_==_", &[merged, map(cx, &[(I(0), I(0)), (I(1), I(1)), (I(2), S("b")), (I(7), N)])], Ok(B(true)));
        check(cx, "form.encode", &[map(cx, &[(S("k"), l)])], Ok(S("k=0&k=1&k=4")));
        check(cx, "form.encode", &[m], Err(NoSuchOverload));
        check(cx, "unwrapOpt", &[l], Err(NoSuchOverload));
    });
}
