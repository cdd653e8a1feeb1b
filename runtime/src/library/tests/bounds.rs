//! What a call may take, and who may be called with what.

use super::*;

fn nested<'a>(cx: &Cx<'a>, depth: usize) -> Value<'a> {
    (0..depth).fold(N, |inner, i| match i % 3 {
        0 => list(cx, &[inner]),
        1 => map(cx, &[(S("k"), inner)]),
        _ => some(cx, inner),
    })
}

#[test]
fn equality_is_bounded() {
    with(|cx| {
        let (a, b) = (nested(cx, 500), nested(cx, 500));
        assert_eq!(a.equals(&b, cx), Ok(true));
        let (a, b) = (nested(cx, 600), nested(cx, 600));
        assert_eq!(a.equals(&b, cx), Err(OutOfBudget));
        // A value of a few lists that stands for 2^60 elements.
        let wide = (0..60).fold(N, |inner, _| list(cx, &[inner, inner]));
        assert_eq!(wide.equals(&wide, cx), Err(OutOfBudget));
    });
}

#[test]
fn growth_ends_out_of_budget() {
    let arena = Arena::new(1 << 20);
    let cx = Cx::new(i64::MAX, &arena);
    let grow = |cx: &Cx<'_>, start: fn() -> Value<'static>| {
        let mut value = start();
        (0..64).find_map(|_| match call(cx, "_+_", &[value, value]) {
            Ok(next) => {
                // The arena outlives the loop, but not the closure's signature.
                value = match next {
                    S(text) => S(Box::leak(text.to_owned().into_boxed_str())),
                    other => panic!("{other:?}"),
                };
                None
            }
            Err(kind) => Some((kind, value)),
        })
    };
    let (kind, last) = grow(&cx, || S("abcdefgh")).unwrap();
    assert_eq!(kind, OutOfBudget);
    assert!(matches!(last, S(text) if text.len() <= 1 << 20));

    let arena = Arena::new(1 << 30);
    let cx = Cx::new(1000, &arena);
    let (kind, last) = grow(&cx, || S("abcdefgh")).unwrap();
    assert_eq!(kind, OutOfBudget);
    assert!(matches!(last, S(text) if text.len() <= 64 * 1000));
}

#[test]
fn functions_that_cannot_fail_are_charged() {
    let arena = Arena::new(0);
    let cx = Cx::new(100, &arena);
    let long = "x".repeat(64 * 101);
    assert!(helpers::bytes_starts_with(Some(&cx), long.as_bytes(), long.as_bytes()));
    assert_eq!(cx.charge(0), Err(OutOfBudget));
    assert_eq!(helpers::string_size(&cx, &long), Err(OutOfBudget));

    let cx = Cx::new(100, &arena);
    for name in ["int", "uint", "double", "timestamp", "duration", "ip", "cidr", "string"] {
        let (text, bytes) = (S(&long), Y(long.as_bytes()));
        check(&cx, name, &[if name == "string" { bytes } else { text }], Err(OutOfBudget));
    }
}

#[test]
fn the_libraries_are_charged_by_size() {
    let arena = Arena::new(1 << 24);
    let text = "x".repeat(64 * 101);
    let (s, y) = (S(&text), Y(text.as_bytes()));
    let long = List::Slice(arena.alloc_slice(&[I(1); 101]).unwrap());
    let texts = List::Slice(arena.alloc_slice(&[S("x"); 101]).unwrap());
    let (ints, texts) = (Value::List(long), Value::List(texts));
    let optionals = Value::List(List::Slice(arena.alloc_slice(&[NONE; 101]).unwrap()));
    let cx = Cx::new(1_000_000, &arena);
    let entries: Vec<_> = (0..101).map(|n| (I(n), N)).collect();
    let (numbers, one) = (map(&cx, &entries), map(&cx, &[(I(0), N)]));
    let (listed, key) = (map(&cx, &[(S("k"), ints)]), map(&cx, &[(s, N)]));
    let calls: &[(&str, &[Value<'_>])] = &[
        ("optional.unwrap", &[optionals]),
        ("unwrapOpt", &[optionals]),
        ("base64.encodeUrl", &[y]),
        ("base64.decodeUrl", &[s]),
        ("form.encode", &[listed]),
        ("form.encode", &[map(&cx, &[(S("k"), s)])]),
        ("form.decode", &[s]),
        ("merge", &[numbers, one]),
        ("merge", &[one, numbers]),
        ("merge", &[key, key]),
        ("regexReplace", &[s, S("x"), S("y")]),
        ("regexReplace", &[S("x"), S("x"), s]),
        ("stripPrefix", &[s, s]),
        ("stripSuffix", &[s, s]),
        ("sha1.encode", &[s]),
        ("sha1.encode", &[y]),
        ("sha256.encode", &[s]),
        ("sha256.encode", &[y]),
        ("md5.encode", &[s]),
        ("md5.encode", &[y]),
        ("hmac.verify", &[s, s, s, S("SHA256")]),
        ("hmac.verify", &[y, y, y, S("SHA512")]),
        ("hmac.compute", &[s, s, S("SHA256")]),
        ("hmac.compute", &[y, y, S("SHA512")]),
        ("json.encode", &[s]),
        ("json.parse", &[s]),
        ("json.parse", &[s, Value::Type("int")]),
        ("yaml.encode", &[s]),
        ("yaml.parse", &[s]),
        ("yaml.parse", &[s, Value::Type("int")]),
        ("jwt.parse", &[s]),
        ("charAt", &[s, I(0)]),
        ("indexOf", &[s, S("y")]),
        ("lastIndexOf", &[s, S("y"), I(3)]),
        ("join", &[texts]),
        ("lowerAscii", &[s]),
        ("upperAscii", &[s]),
        ("replace", &[s, S("y"), S("z")]),
        ("split", &[s, S("y")]),
        ("substring", &[s, I(0)]),
        ("trim", &[s]),
        ("reverse", &[s]),
        ("strings.quote", &[s]),
        ("format", &[s, ints]),
        ("format", &[S("%s"), Value::List(List::Slice(arena.alloc_slice(&[ints]).unwrap()))]),
        ("math.greatest", &[ints]),
        ("base64.encode", &[y]),
        ("base64.decode", &[s]),
        ("hex.encode", &[y]),
        ("hex.decode", &[s]),
        ("url.encode", &[s]),
        ("url.decode", &[s]),
        ("flatten", &[ints, I(1)]),
        ("sort", &[ints]),
        ("@sortBy", &[ints, ints]),
        ("distinct", &[ints]),
        ("lists.range", &[I(101)]),
        ("reverse", &[ints]),
        ("sets.contains", &[ints, ints]),
        ("sets.equivalent", &[ints, ints]),
        ("sets.intersects", &[Value::List(List::Slice(&[])), ints]),
        ("regex.extract", &[s, S("x")]),
        ("regex.extractAll", &[s, S("x")]),
        ("regex.replace", &[s, S("x"), S("y")]),
        ("isIP", &[s]),
        ("isCIDR", &[s]),
        ("ip.isCanonical", &[s]),
    ];
    for (name, args) in calls {
        check(&Cx::new(100, &arena), name, args, Err(OutOfBudget));
    }
}

#[test]
fn every_row_refuses_what_it_does_not_take() {
    with(|cx| {
        for &builtin in Builtin::ALL {
            let row = TABLE.row(builtin).unwrap();
            assert_eq!(row.builtin, builtin);
            let wrong = vec![N; row.params.len() + 1];
            assert_eq!(invoke(cx, builtin, &wrong).err(), Some(NoSuchOverload), "{builtin:?}");
            let generic = row.params.iter().all(|p| N.fits(p));
            if !generic {
                let null = vec![N; row.params.len()];
                assert_eq!(invoke(cx, builtin, &null).err(), Some(NoSuchOverload), "{builtin:?}");
            }
        }
    });
}

#[test]
fn a_budget_is_spent_to_the_last_step_and_then_for_good() {
    let arena = Arena::new(0);
    let cx = Cx::new(5, &arena);
    assert_eq!(cx.charge(5), Ok(()));
    assert_eq!(cx.charge(0), Ok(()));
    assert_eq!(cx.charge_bytes(64), Err(OutOfBudget));
    assert_eq!(cx.charge(0), Err(OutOfBudget));
    assert_eq!(cx.charge(usize::MAX), Err(OutOfBudget));
    assert_eq!(cx.charge(usize::MAX), Err(OutOfBudget));
    assert_eq!(cx.left(), i64::MIN);
    let cx = Cx::new(0, &arena);
    cx.spend_bytes(64);
    assert_eq!(cx.charge(0), Err(OutOfBudget));
}
