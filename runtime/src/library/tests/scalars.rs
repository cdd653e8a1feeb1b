//! Numbers, text, time: arithmetic, order, equality, conversions.

use super::*;

#[test]
fn arithmetic() {
    let ok = Ok::<Value<'_>, ErrorKind>;
    let cases = [
        ("_+_", I(40), I(2), ok(I(42))),
        ("_+_", I(i64::MAX), I(1), Err(Overflow)),
        ("_+_", I(i64::MIN), I(-1), Err(Overflow)),
        ("_+_", U(40), U(2), ok(U(42))),
        ("_+_", U(u64::MAX), U(1), Err(Overflow)),
        ("_+_", D(4.25), D(15.25), ok(D(19.5))),
        ("_+_", D(f64::MAX), D(f64::MAX), ok(D(f64::INFINITY))),
        ("_+_", I(1), U(1), Err(NoSuchOverload)),
        ("_+_", I(1), D(1.0), Err(NoSuchOverload)),
        ("_+_", N, N, Err(NoSuchOverload)),
        ("_+_", S("aÿ"), S("🐱"), ok(S("aÿ🐱"))),
        ("_+_", S(""), S("abc"), ok(S("abc"))),
        ("_+_", S("abc"), S(""), ok(S("abc"))),
        ("_+_", S("abc"), Y(b"abc"), Err(NoSuchOverload)),
        ("_+_", Y(b""), Y(b"\xffoo"), ok(Y(b"\xffoo"))),
        ("_+_", Y(b"ab"), Y(b"c"), ok(Y(b"abc"))),
        ("_-_", I(i64::MIN), I(1), Err(Overflow)),
        ("_-_", I(5), I(7), ok(I(-2))),
        ("_-_", U(0), U(1), Err(Overflow)),
        ("_-_", U(7), U(5), ok(U(2))),
        ("_-_", D(42.875), D(-22.0), ok(D(64.875))),
        ("_*_", I(i64::MIN), I(-1), Err(Overflow)),
        ("_*_", I(5_000_000_000), I(-5_000_000_000), Err(Overflow)),
        ("_*_", I(-6), I(7), ok(I(-42))),
        ("_*_", U(5_000_000_000), U(5_000_000_000), Err(Overflow)),
        ("_*_", U(6), U(7), ok(U(42))),
        ("_*_", D(2.0), D(-8.988_466e307), ok(D(f64::NEG_INFINITY))),
        ("_/_", I(-7), I(2), ok(I(-3))),
        ("_/_", I(i64::MIN), I(-1), Err(Overflow)),
        ("_/_", I(1), I(0), Err(DivideByZero)),
        ("_/_", U(7), U(2), ok(U(3))),
        ("_/_", U(15), U(0), Err(DivideByZero)),
        ("_/_", D(15.75), D(0.0), ok(D(f64::INFINITY))),
        ("_/_", D(0.0), D(0.0), ok(D(f64::NAN))),
        ("_%_", I(-43), I(5), ok(I(-3))),
        ("_%_", I(43), I(-5), ok(I(3))),
        ("_%_", I(34), I(0), Err(ModulusByZero)),
        ("_%_", I(i64::MIN), I(-1), Err(Overflow)),
        ("_%_", U(43), U(5), ok(U(3))),
        ("_%_", U(34), U(0), Err(ModulusByZero)),
        ("_%_", D(1.0), D(1.0), Err(NoSuchOverload)),
    ];
    with(|cx| {
        for (name, a, b, want) in cases {
            check(cx, name, &[a, b], want);
        }
        check(cx, "-_", &[I(i64::MIN)], Err(Overflow));
        check(cx, "-_", &[I(7)], Ok(I(-7)));
        check(cx, "-_", &[D(0.0)], Ok(D(-0.0)));
        check(cx, "-_", &[U(42)], Err(NoSuchOverload));
        check(cx, "!_", &[B(true)], Ok(B(false)));
        check(cx, "!_", &[I(0)], Err(NoSuchOverload));
    });
}

/// -1, 0, 1 as an order; `None` is NaN.
fn check_order(a: Value<'static>, b: Value<'static>, order: Option<i8>) {
    let want = |f: fn(i8) -> bool| Ok(B(order.is_some_and(f)));
    with(|cx| {
        for (a, b, sign) in [(a, b, 1), (b, a, -1)] {
            let not_above = |name, f: fn(i8) -> bool, g: fn(i8) -> bool| {
                check(cx, name, &[a, b], want(if sign > 0 { f } else { g }));
            };
            not_above("_<_", |o| o < 0, |o| o > 0);
            not_above("_<=_", |o| o <= 0, |o| o >= 0);
            not_above("_>_", |o| o > 0, |o| o < 0);
            not_above("_>=_", |o| o >= 0, |o| o <= 0);
            let equal = matches!((a, b), (D(x), D(y)) if x.is_nan() && y.is_nan());
            check(cx, "_==_", &[a, b], Ok(B(order == Some(0) && !equal)));
            check(cx, "_!=_", &[a, b], Ok(B(order != Some(0))));
        }
    });
}

#[test]
fn ordering() {
    let cases = [
        (B(false), B(true), Some(-1)),
        (B(true), B(true), Some(0)),
        (I(-1), I(0), Some(-1)),
        (I(7), I(7), Some(0)),
        (U(1), U(u64::MAX), Some(-1)),
        (U(3), U(3), Some(0)),
        (D(-0.0), D(0.0), Some(0)),
        (D(0.99), D(1.0), Some(-1)),
        (D(f64::NAN), D(f64::NAN), None),
        (D(f64::NAN), D(f64::INFINITY), None),
        (I(-1), U(0), Some(-1)),
        (I(7), U(7), Some(0)),
        (I(i64::MAX), U(1 << 63), Some(-1)),
        (I(1), D(1.5), Some(-1)),
        (I(2), D(1.5), Some(1)),
        (I(1), D(1.0), Some(0)),
        (I(i64::MAX), D(9_223_372_036_854_775_808.0), Some(0)),
        (I(i64::MAX), D(9_223_372_036_854_777_857.0), Some(-1)),
        (I(i64::MIN), D(-9_223_372_036_854_777_857.0), Some(1)),
        (I(0), D(f64::NAN), None),
        (U(1), D(-1.0), Some(1)),
        (U(u64::MAX), D(18_446_744_073_709_590_000.0), Some(-1)),
        (U(2), D(2.0), Some(0)),
        (U(2), D(f64::NAN), None),
        (S(""), S("a"), Some(-1)),
        (S("a"), S("AB"), Some(1)),
        (S("a"), S("α"), Some(-1)),
        (S("abc"), S("abcd"), Some(-1)),
        (S("x"), S("x"), Some(0)),
        (S("\u{e000}"), S("\u{10000}"), Some(-1)),
        (Y(b""), Y(b"\0"), Some(-1)),
        (Y(b"\0\x01"), Y(b"\x01"), Some(-1)),
        (Y(b"\xff"), Y(b"\xff"), Some(0)),
        (at("2009-02-13T23:00:00Z"), at("2009-02-13T23:00:00.000000001Z"), Some(-1)),
        (at("2009-02-13T23:00:00Z"), at("2009-02-14T00:00:00+01:00"), Some(0)),
        (span("-1ns"), span("0"), Some(-1)),
        (span("60s"), span("1m"), Some(0)),
    ];
    for (a, b, order) in cases {
        check_order(a, b, order);
    }
    with(|cx| {
        let lists = [list(cx, &[I(0)]), list(cx, &[I(1)])];
        let maps = [map(cx, &[]), map(cx, &[])];
        for pair in [lists, maps, [N, N], [S("foo"), I(1024)], [S("foo"), D(1.0)], [at("2009-02-13T23:00:00Z"), I(0)]] {
            for name in ["_<_", "_<=_", "_>_", "_>=_"] {
                check(cx, name, &pair, Err(NoSuchOverload));
            }
        }
    });
}

#[test]
fn equality() {
    with(|cx| {
        let l = |e: &[Value<'static>]| list(cx, e);
        let m = |e: &[(Value<'static>, Value<'static>)]| map(cx, e);
        let (v4, v6) = ("10.0.0.1".parse::<IpAddr>().unwrap(), "::a00:1".parse::<IpAddr>().unwrap());
        let cases = [
            (N, N, true),
            (N, B(false), false),
            (I(1), S("1"), false),
            (S("abc"), Y(b"abc"), false),
            (S("Am\u{e9}lie"), S("Ame\u{301}lie"), false),
            (l(&[]), l(&[]), true),
            (l(&[]), m(&[]), false),
            (l(&[D(1.0), D(2.0), I(3)]), l(&[U(1), I(2), U(3)]), true),
            (l(&[I(1), I(2), I(3)]), l(&[I(1), I(3), I(2)]), false),
            (l(&[I(1)]), l(&[I(1), I(1)]), false),
            (l(&[D(f64::NAN)]), l(&[D(f64::NAN)]), false),
            (l(&[N]), l(&[N]), true),
            (l(&[I(1), N]), l(&[I(1), I(3)]), false),
            (m(&[]), m(&[]), true),
            (m(&[(I(1), D(1.0)), (U(2), U(3))]), m(&[(U(2), D(3.0)), (U(1), I(1))]), true),
            (m(&[(S("k"), N)]), m(&[(S("k"), N)]), true),
            (m(&[(S("k"), D(f64::NAN))]), m(&[(S("k"), D(f64::NAN))]), false),
            (m(&[(S("k"), I(1))]), m(&[(S("K"), I(1))]), false),
            (m(&[(S("k"), S("v")), (I(1), I(1))]), m(&[(S("k"), S("v")), (I(1), S("v"))]), false),
            (m(&[(S("k"), I(1)), (S("l"), I(1))]), m(&[(S("k"), I(1))]), false),
            (Value::Type("int"), Value::Type("int"), true),
            (Value::Type("int"), Value::Type("uint"), false),
            (NONE, NONE, true),
            (NONE, some(cx, I(1)), false),
            (some(cx, I(1)), some(cx, U(1)), true),
            (some(cx, I(1)), some(cx, I(2)), false),
            (some(cx, I(1)), I(1), false),
            (Value::Ip(v4), Value::Ip(v4), true),
            (Value::Ip(v4), Value::Ip(v6), false),
            (Value::Cidr(v4, 8), Value::Cidr(v4, 8), true),
            (Value::Cidr(v4, 8), Value::Cidr(v4, 9), false),
            (Value::Cidr(v4, 8), Value::Ip(v4), false),
            (span("1s"), I(1), false),
        ];
        for (a, b, want) in cases {
            for (a, b) in [(a, b), (b, a)] {
                check(cx, "_==_", &[a, b], Ok(B(want)));
                check(cx, "_!=_", &[a, b], Ok(B(!want)));
                assert_eq!(helpers::value_equal(cx, a, b), Ok(want));
            }
        }
    });
}

#[test]
fn conversions_of_numbers() {
    let two_63 = 9_223_372_036_854_775_808.0;
    let cases = [
        ("int", U(42), Ok(I(42))),
        ("int", U(1 << 63), Err(Overflow)),
        ("int", D(1.9), Ok(I(1))),
        ("int", D(-7.9), Ok(I(-7))),
        ("int", D(two_63), Err(Overflow)),
        ("int", D(-two_63), Err(Overflow)),
        ("int", D(9_223_372_036_854_774_784.0), Ok(I(9_223_372_036_854_774_784))),
        ("int", D(f64::NAN), Err(Overflow)),
        ("int", D(f64::NEG_INFINITY), Err(Overflow)),
        ("int", S("987"), Ok(I(987))),
        ("int", S("-9223372036854775808"), Ok(I(i64::MIN))),
        ("int", S("9223372036854775808"), Err(Overflow)),
        ("int", S(""), Err(InvalidArgument)),
        ("int", S("1.0"), Err(InvalidArgument)),
        ("int", S(" 1"), Err(InvalidArgument)),
        ("int", S("0x1"), Err(InvalidArgument)),
        ("int", at("1969-12-31T23:59:59.5Z"), Ok(I(-1))),
        ("int", B(true), Err(NoSuchOverload)),
        ("int", span("1s"), Err(NoSuchOverload)),
        ("uint", I(1729), Ok(U(1729))),
        ("uint", I(-1), Err(Overflow)),
        ("uint", D(3.9), Ok(U(3))),
        ("uint", D(-0.5), Err(Overflow)),
        ("uint", D(-0.0), Ok(U(0))),
        ("uint", D(two_63 * 2.0), Err(Overflow)),
        ("uint", D(f64::NAN), Err(Overflow)),
        ("uint", S("18446744073709551615"), Ok(U(u64::MAX))),
        ("uint", S("18446744073709551616"), Err(Overflow)),
        ("uint", S("-1"), Err(InvalidArgument)),
        ("uint", S("+1"), Err(InvalidArgument)),
        ("uint", S("1u"), Err(InvalidArgument)),
        ("double", I(i64::MAX), Ok(D(two_63))),
        ("double", U(u64::MAX), Ok(D(two_63 * 2.0))),
        ("double", S("-0.0"), Ok(D(-0.0))),
        ("double", S("1.38e-23"), Ok(D(1.38e-23))),
        ("double", S(".5"), Ok(D(0.5))),
        ("double", S("NaN"), Ok(D(f64::NAN))),
        ("double", S("-Infinity"), Ok(D(f64::NEG_INFINITY))),
        ("double", S("1e400"), Err(Overflow)),
        ("double", S("1e"), Err(InvalidArgument)),
        ("double", S("0x1p3"), Err(InvalidArgument)),
        ("double", S(""), Err(InvalidArgument)),
        ("bool", S("t"), Ok(B(true))),
        ("bool", S("1"), Ok(B(true))),
        ("bool", S("True"), Ok(B(true))),
        ("bool", S("FALSE"), Ok(B(false))),
        ("bool", S("f"), Ok(B(false))),
        ("bool", S("TrUe"), Err(InvalidArgument)),
        ("bool", S("T"), Err(InvalidArgument)),
        ("bool", S(""), Err(InvalidArgument)),
        ("bool", I(1), Err(NoSuchOverload)),
    ];
    with(|cx| {
        for (name, from, want) in cases {
            check(cx, name, &[from], want);
        }
    });
}

#[test]
fn conversions_of_text_and_time() {
    let cases = [
        ("string", B(true), Ok(S("true"))),
        ("string", I(i64::MIN), Ok(S("-9223372036854775808"))),
        ("string", U(9876), Ok(S("9876"))),
        ("string", D(123.456), Ok(S("123.456"))),
        ("string", D(-4.5e-3), Ok(S("-0.0045"))),
        ("string", D(1.0), Ok(S("1"))),
        ("string", D(-0.0), Ok(S("-0"))),
        ("string", D(0.0001), Ok(S("0.0001"))),
        ("string", D(0.000_099), Ok(S("9.9e-05"))),
        ("string", D(999_999.5), Ok(S("999999.5"))),
        ("string", D(1e6), Ok(S("1e+06"))),
        ("string", D(123_456_789.0), Ok(S("1.23456789e+08"))),
        ("string", D(-1e23), Ok(S("-1e+23"))),
        ("string", D(5e-324), Ok(S("5e-324"))),
        ("string", D(f64::MAX), Ok(S("1.7976931348623157e+308"))),
        ("string", D(f64::NAN), Ok(S("NaN"))),
        ("string", D(f64::INFINITY), Ok(S("Infinity"))),
        ("string", D(f64::NEG_INFINITY), Ok(S("-Infinity"))),
        ("string", Y(b"\xc3\xbf"), Ok(S("ÿ"))),
        ("string", Y(b"\0\xff"), Err(InvalidArgument)),
        ("string", at("2009-02-13T23:31:30.500Z"), Ok(S("2009-02-13T23:31:30.5Z"))),
        ("string", span("1h0.001s"), Ok(S("3600.001s"))),
        ("string", N, Err(NoSuchOverload)),
        ("bytes", S("ÿ"), Ok(Y(b"\xc3\xbf"))),
        ("bytes", Y(b"\xff"), Ok(Y(b"\xff"))),
        ("timestamp", I(0), Ok(at("1970-01-01T00:00:00Z"))),
        ("timestamp", I(Timestamp::MAX_SECONDS), Ok(at("9999-12-31T23:59:59Z"))),
        ("timestamp", I(Timestamp::MIN_SECONDS - 1), Err(Overflow)),
        ("timestamp", I(Timestamp::MAX_SECONDS + 1), Err(Overflow)),
        ("timestamp", S("2009-02-13"), Err(InvalidArgument)),
        ("timestamp", at("2009-02-13T23:31:30Z"), Ok(at("2009-02-13T23:31:30Z"))),
        ("duration", S("100s"), Ok(span("100s"))),
        ("duration", S("x"), Err(InvalidArgument)),
        ("duration", I(1), Err(NoSuchOverload)),
        ("dyn", I(1), Ok(I(1))),
        ("type", N, Ok(Value::Type("null_type"))),
        ("type", NONE, Ok(Value::Type("optional_type"))),
        ("type", Value::Type("int"), Ok(Value::Type("type"))),
        ("type", D(0.0), Ok(Value::Type("double"))),
    ];
    with(|cx| {
        for (name, from, want) in cases {
            check(cx, name, &[from], want);
        }
    });
}

#[test]
fn time() {
    let (t, d) = (at("2009-02-13T23:31:30.5Z"), span("3730.25s"));
    with(|cx| {
        check(cx, "_+_", &[span("120s"), at("2009-02-13T23:01:00Z")], Ok(at("2009-02-13T23:03:00Z")));
        check(cx, "_+_", &[at("2009-02-13T23:01:00Z"), span("-120s")], Ok(at("2009-02-13T22:59:00Z")));
        check(cx, "_+_", &[at("9999-12-31T23:59:59Z"), span("1s")], Err(Overflow));
        check(cx, "_+_", &[t, t], Err(NoSuchOverload));
        check(cx, "_-_", &[t, span("500ms")], Ok(at("2009-02-13T23:31:30Z")));
        check(cx, "_-_", &[t, at("2009-02-13T23:31:29Z")], Ok(span("1.5s")));
        check(cx, "_-_", &[at("0001-01-01T00:00:00Z"), t], Err(Overflow));
        check(cx, "_-_", &[span("900s"), span("42s")], Ok(span("858s")));
        check(cx, "_+_", &[span("9223372036s"), span("1s")], Err(Overflow));
        check(cx, "getFullYear", &[t], Ok(I(2009)));
        check(cx, "getMilliseconds", &[t], Ok(I(500)));
        check(cx, "getHours", &[t, S("Australia/Sydney")], Ok(I(10)));
        check(cx, "getHours", &[t, S("+05:30")], Ok(I(5)));
        check(cx, "getHours", &[t, S("Atlantis")], Err(InvalidArgument));
        check(cx, "getHours", &[d], Ok(I(1)));
        check(cx, "getMinutes", &[d], Ok(I(62)));
        check(cx, "getSeconds", &[d], Ok(I(3730)));
        check(cx, "getSeconds", &[span("-1.9s")], Ok(I(-1)));
        check(cx, "getMilliseconds", &[d], Ok(I(250)));
        check(cx, "getMilliseconds", &[span("-1.9s")], Ok(I(-900)));
        check(cx, "getMonth", &[d], Err(NoSuchOverload));
    });
}

#[test]
fn strings() {
    with(|cx| {
        check(cx, "size", &[S("πέντε")], Ok(I(5)));
        check(cx, "size", &[Y("πέντε".as_bytes())], Ok(I(10)));
        check(cx, "size", &[I(1)], Err(NoSuchOverload));
        let cases = [
            ("contains", "abababc", "ababc", true),
            ("contains", "", "", true),
            ("contains", "", "something", false),
            ("startsWith", "завтра", "за", true),
            ("startsWith", "foobar", "bar", false),
            ("startsWith", "", "", true),
            ("endsWith", "foobar", "bar", true),
            ("endsWith", "bar", "foobar", false),
            ("matches", "abcd", "bc", true),
            ("matches", "abcd", "^bc", false),
        ];
        for (name, text, other, want) in cases {
            check(cx, name, &[S(text), S(other)], Ok(B(want)));
        }
        // Short and long texts are searched by different means.
        for length in [0, 17, 500, 505, 506, 507, 520, 5000] {
            let text = "é".repeat(length / 2) + "needle";
            let cases = [("needle", true), ("éneedle", length > 1), ("", true), ("needles", false), (&*text, true)];
            for (needle, want) in cases {
                check(cx, "contains", &[S(&text), S(needle)], Ok(B(want)));
            }
        }
        check(cx, "matches", &[S("a"), S("(")], Err(InvalidArgument));
        assert_eq!(helpers::text_decode(cx, b"plain"), Ok("plain"));
        assert_eq!(helpers::text_decode(cx, b"a\xff\xe2\x82b"), Ok("a\u{fffd}\u{fffd}b"));
        assert_eq!(helpers::bytes_compare(Some(cx), b"a", b"b"), -1);
        assert_eq!(helpers::bytes_compare(Some(cx), b"b", b"a"), 1);
        assert_eq!(helpers::bytes_compare(Some(cx), b"a", b"a"), 0);
        assert!(helpers::bytes_equal(Some(cx), b"a", b"a") && !helpers::bytes_equal(Some(cx), b"a", b"b"));
    });
}
