//! Each kind of key finds its rule where the rule can match, and nowhere else.

use super::*;

/// A rule; calls for which it is true; calls for which no key of its holds; calls for which one does, and it is false.
type Case = (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

const CASES: &[Case] = &[
    ("request.path == '/a'", &["path=/a"], &["path=/b", "path=/", "path=/a/"], &[]),
    ("'/a' == request.path", &["path=/a"], &["path=/b"], &[]),
    ("request.host == 'a.b'", &[":host=a.b"], &["path=/", ":host=a"], &[]),
    ("request.method in ['PUT', 'DELETE']", &["method=PUT", "method=DELETE"], &["path=/", "method=PU"], &[]),
    ("request.path.startsWith('/a/')", &["path=/a/", "path=/a/b"], &["path=/a", "path=/b/a/"], &[]),
    ("request.path.endsWith('.php')", &["path=/x.php", "path=/.php"], &["path=/php", "path=/x.php/"], &[]),
    ("request.path.contains('a..b')", &["path=/a..b", "path=/xa..by"], &["path=/a.b"], &[]),
    ("request.path.strictWildcard('*.php')", &["path=/x.php", "path=/.php"], &["path=/x.PHP", "path=/x.php/"], &[]),
    ("request.path.strictWildcard('/a/*')", &["path=/a/", "path=/a/b"], &["path=/A/b", "path=/b/a/"], &[]),
    ("request.path.wildcard('/Shop/*')", &["path=/shop/", "path=/SHOP/x"], &["path=/sho", "path=/a/shop/"], &[]),
    ("request.path.wildcard('/exact')", &["path=/Exact"], &["path=/exact/", "path=/x"], &[]),
    ("request.path.wildcard('*admin*')", &["path=/x/ADMIN/y"], &["path=/admi"], &[]),
    ("request.path.strictWildcard('*a..b*')", &["path=/xa..by"], &["path=/a.b", "path=/A..B"], &[]),
    ("request.path.wildcard('/a*b*.php')", &["path=/aXb.PHP"], &["path=/aXb.ph", "path=/"], &["path=/x.php"]),
    ("request.headers['x-a'].wildcard('A*')", &[":x-a=ab", ":x-a=A%ff"], &[":x-a=b", "path=/"], &[]),
    ("default(request.headers['x-a'], 'Z').wildcard('z*')", &[":x-a=Zb", "path=/"], &[":x-a=b"], &[]),
    ("bytes(request.path) == b'/a'", &["path=/a"], &["path=/b", "path=/a/"], &[]),
    ("bytes(request.path) in [b'/a', b'/b']", &["path=/a", "path=/b"], &["path=/c"], &[]),
    ("request.path.matches('(?i)wp-login')", &["path=/WP-Login.php"], &["path=/wp/login"], &[]),
    (
        "request.path.matches('^/shop/items/[0-9]+/')",
        &["path=/shop/items/12/x"],
        &["path=/x/shop/items/1/", "path=/shop"],
        &["path=/shop/items/1x"],
    ),
    ("request.path.matches('a.*[.](php|asp)$')", &["path=/a1.php"], &["path=/a1.php/", "path=/"], &["path=/x.asp"]),
    ("request.path.matches('^/exact$')", &["path=/exact"], &["path=/exact/", "path=/Exact"], &[]),
    ("request.path.matches('x.*foobar.*y')", &["path=/xfoobary"], &["path=/xy"], &["path=/foobar"]),
    ("request.path.matches(r'\\d{3}')", &["path=/a123"], &["path=/12a3", "path=/"], &[]),
    ("request.path.matches(r'^\\W\\w+\\d$')", &["path=/ab1"], &["path=/ab"], &["path=/1", "path=/a-1"]),
    ("request.path.matches(r'^\\W\\pL+\\pN$')", &["path=/ab1"], &["path=/ab", "path=/1", "path=/a-1"], &[]),
    ("request.path.lowerAscii() == '/ab'", &["path=/aB", "path=/ab"], &["path=/abc"], &[]),
    ("request.path.lowerAscii().startsWith('/ab')", &["path=/ABc"], &["path=/bab"], &[]),
    ("request.path.lowerAscii().contains('ab')", &["path=/xABc"], &["path=/ba"], &[]),
    (
        "cidr('10.0.0.0/8').containsIP(client.ip)",
        &["ip=10.1.2.3", "ip=::ffff:10.0.0.0"],
        &["ip=11.0.0.1", "ip=::a00:1"],
        &[],
    ),
    (
        "cidr('::ffff:a00:0/104').containsIP(client.ip)",
        &["ip=10.1.2.3", "ip=::ffff:10.0.0.0"],
        &["ip=11.0.0.1", "ip=::a00:1"],
        &[],
    ),
    ("cidr('::ffff:a00:0/80').containsIP(client.ip)", &["ip=::1"], &["ip=10.1.2.3", "ip=::ffff:10.0.0.0"], &[]),
    ("cidr('10.1.2.3/32').containsIP(client.ip)", &["ip=10.1.2.3"], &["ip=10.1.2.2"], &[]),
    ("client.ip == '10.1.2.3'", &["ip=10.1.2.3", "ip=::ffff:10.1.2.3"], &["ip=10.1.2.2", "ip=::a01:203"], &[]),
    ("client.ip in ['10.1.2.3', '2001:db8::1']", &["ip=10.1.2.3", "ip=2001:db8::1"], &["ip=10.1.2.2"], &[]),
    ("cidr('2001:db8::/33').containsIP(client.ip)", &["ip=2001:db8::1"], &["ip=2001:db8:8000::", "ip=10.0.0.1"], &[]),
    (
        "cidr('10.0.0.0/8').containsIP(source.address)",
        &["peer=10.1.2.3", "peer=::ffff:10.1.2.3"],
        &["peer=::1", "path=/"],
        &[],
    ),
    ("size == 3", &["size=3"], &["size=2", "size=4"], &[]),
    ("size < 3", &["size=2", "size=-9223372036854775808"], &["size=3"], &[]),
    ("size <= 3", &["size=3"], &["size=4"], &[]),
    ("size > 3", &["size=4", "size=9223372036854775807"], &["size=3"], &[]),
    ("size >= 3", &["size=3"], &["size=2"], &[]),
    ("size >= 9223372036854775807", &["size=9223372036854775807"], &["size=9223372036854775806"], &[]),
    ("size <= -9223372036854775808", &["size=-9223372036854775808"], &["size=-9223372036854775807"], &[]),
    ("size in [1, 5, 9]", &["size=1", "size=9"], &["size=2", "size=0"], &[]),
    ("source.port == 4000", &["peer=10.1.2.3"], &["path=/"], &[]),
    ("source.port == dyn(4000u)", &["peer=10.1.2.3"], &["path=/"], &[]),
    ("source.port == 80", &[], &["peer=10.1.2.3", "path=/"], &[]),
    ("source.port in [443, 4000]", &["peer=10.1.2.3"], &["path=/"], &[]),
    ("source.port in [443, 8443]", &[], &["peer=10.1.2.3", "path=/"], &[]),
    ("source.port > 1024", &["peer=10.1.2.3"], &["path=/"], &[]),
    ("source.port < 1024", &[], &["peer=10.1.2.3", "path=/"], &[]),
    ("size == dyn(3u)", &["size=3"], &["size=2"], &[]),
    ("count == dyn(7)", &["count=7"], &["count=8"], &[]),
    ("count == 7u", &["count=7"], &["count=8"], &[]),
    ("count >= 9223372036854775808u", &["count=18446744073709551615"], &["count=9223372036854775807"], &[]),
    ("count < 1u", &["count=0"], &["count=1"], &[]),
    ("secure", &["secure=true"], &["secure=false"], &[]),
    ("!secure", &["secure=false"], &["secure=true"], &[]),
    ("!client.admin", &["admin=false"], &["admin=true", "path=/"], &[]),
    ("client.admin", &["admin=true"], &["admin=false", "path=/"], &[]),
    ("client.note == 'x'", &["note=x"], &["note=y", "path=/"], &[]),
    ("token.subject == 'ada'", &["subject=ada"], &["subject=bob", "path=/"], &[]),
    ("token.level == 2u", &["subject=adael"], &["subject=ada", "subject=a", "path=/"], &[]),
    ("cidr('10.0.0.0/8').containsIP(token.issuer)", &["subject=x ip=10.1.2.3"], &["subject=x", "ip=10.1.2.3"], &[]),
    ("has(token.level)", &["subject=ada"], &["subject=a", "path=/"], &[]),
    ("has(client.note)", &["note=x"], &["path=/"], &[]),
    ("!has(client.note)", &["path=/"], &["note=x"], &[]),
    ("'X-A' in request.headers", &[":x-a=1", ":x-a="], &[":x-b=1", "path=/"], &[]),
    ("!('x-a' in request.headers)", &["path=/"], &[":x-a=", ":x-a=1"], &[]),
    ("request.headers['x-a'] == '1'", &[":x-a=1"], &[":x-a=2", ":x-a=", "path=/"], &[]),
    ("request.headers['x-a'] == '1,2'", &[":x-a=1 :x-a=2", ":x-a=1,2"], &[":x-a=1", ":x-a=2 :x-a=1"], &[]),
    ("request.headers['x-a'] == ''", &[":x-a="], &[":x-a=1", "path=/", ":x-a= :x-a="], &[]),
    ("request.headers['x-a'] in ['1', '2']", &[":x-a=2"], &[":x-a=3", ":x-a=1 :x-a=2", "path=/"], &[]),
    ("request.headers['x-a'].startsWith('ab')", &[":x-a=ab", ":x-a=ab%ff"], &[":x-a=a", "path=/"], &[]),
    (
        "request.headers['x-a'].endsWith('ab')",
        &[":x-a=%ffab", ":x-a=x :x-a=ab"],
        &[":x-a=ab%ff", ":x-a=ab :x-a=x"],
        &[],
    ),
    ("request.headers['x-a'].contains('b,c')", &[":x-a=ab :x-a=cd"], &[":x-a=ab", "path=/"], &[]),
    ("request.headers['x-a'].matches('^a.b$')", &[":x-a=axb", ":x-a=a%ffb"], &[":x-a=ba", "path=/"], &[":x-a=ab"]),
    ("request.headers['x-a'].matches('(?i)^mozilla/[0-9]')", &[":x-a=mOZILLA/7"], &[":x-a=xmozilla/7"], &[]),
    ("request.headers['x-a'].lowerAscii() == 'abc'", &[":x-a=AbC", ":x-a=abc"], &[":x-a=ab", "path=/"], &[]),
    ("default(request.headers['x-a'], 'z') == 'z'", &[":x-a=z", "path=/"], &[":x-a=y", ":x-a="], &[]),
    ("default(request.headers['x-a'], 'z') == 'y'", &[":x-a=y"], &[":x-a=z", "path=/"], &[]),
    (
        "default(request.headers['x-a'], 'z-header-a').startsWith('z-header')",
        &[":x-a=z-header", "path=/"],
        &[":x-a=z-heade"],
        &[],
    ),
    ("default(client.note, 'none') == 'none'", &["note=none", "path=/"], &["note=x"], &[]),
    ("request.headers[?'x-a'].orValue('') == 'b'", &[":x-a=b"], &[":x-a=", "path=/"], &[]),
    ("request.headers[?'x-a'].orValue('b') == 'b'", &[":x-a=b", "path=/"], &[":x-a=a", ":x-a="], &[]),
    ("request.path == '/a' || request.host == 'h'", &["path=/a", ":host=h"], &["path=/b"], &[]),
    ("request.path == '/a' && size(request.host) == 1", &["path=/a :host=h"], &[":host=h"], &["path=/a"]),
    ("request.path == '/a' ? request.host == 'h' : false", &["path=/a :host=h"], &[":host=h"], &["path=/a"]),
    ("request.path == '/a' && ratio > 1.5", &["path=/a ratio=2"], &["ratio=2"], &["path=/a ratio=1.5"]),
    ("request.path == '/a' && count_of(size) == 2", &["path=/a size=1"], &["size=1"], &["path=/a size=7"]),
];

/// Rules that no key finds, because what could be one would hold always, or fails.
const KEYLESS: &[&str] = &[
    "size(request.path) == 2",
    "request.path != '/a'",
    "request.path.wildcard('*')",
    "bytes(request.path) == b'\\xff'",
    "request.headers['x-a'].wildcard('*\\uFFFD')",
    "ratio > 1.5",
    "request.path == request.host",
    "request.headers['x-a'] == '\\uFFFD'",
    "request.path == '/a' || size(request.path) == 2",
    "count_of(size) == 2",
    "size + 1 == 2",
    "source.port in [dyn(4000), 'x']",
    "source.port == dyn(4000.0)",
    "source.port != 80",
];

/// All calls of the cases.
fn inputs() -> Vec<Input> {
    let mut written: Vec<&str> =
        CASES.iter().flat_map(|(_, hits, misses, vain)| [*hits, *misses, *vain].concat()).collect();
    written.sort_unstable();
    written.dedup();
    written.into_iter().map(Input::new).collect()
}

/// Rules that no call here matches, which make values of fields unlikely.
fn others() -> impl Iterator<Item = String> {
    (0..12).flat_map(|n| {
        ["request.path", "request.host", "request.headers['x-a']", "client.note", "request.headers['x-a'].lowerAscii()"]
            .map(|field| format!("{field} == 'other-{n}'"))
            .into_iter()
            .chain(["request.path", "request.headers['x-a']"].map(|field| format!("{field}.startsWith('other-{n}')")))
    })
}

#[test]
fn each_kind_of_key_finds_its_rule_alone() {
    let env = env();
    let mut scratch = Scratch::new();
    let mut wrong = Vec::new();
    for tier in TIERS {
        for (source, hits, misses, vain) in CASES {
            let sources: Vec<String> = std::iter::once((*source).to_owned()).chain(others()).collect();
            let set = build(&engine(tier), &env, &sources, Indexing::Always, ErrorPolicy::NoMatch);
            let native = if tier == Tier::Native { sources.len() } else { 0 };
            if (set.indexed_rules(), set.native_rules()) != (sources.len(), native) {
                wrong.push(format!("{source} in {tier:?}: {} indexed, {set:?}", set.indexed_rules()));
            }
            for (inputs, found, matched) in [(hits, true, true), (misses, false, false), (vain, true, false)] {
                for written in *inputs {
                    let input = Input::new(written);
                    let call = input.call();
                    let answer = (set.candidates(&call, &mut scratch) == [0], set.any(&call, &mut scratch));
                    if answer != (found, Ok(matched)) {
                        wrong.push(format!("{source} for {written} in {tier:?}: {answer:?}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_no_key_finds_is_evaluated() {
    let env = env();
    let inputs = inputs();
    for source in KEYLESS {
        let program = [engine(Tier::Interpret).compile(&env, source).unwrap()];
        for tier in TIERS {
            let set = build(&engine(tier), &env, &[source], Indexing::Always, ErrorPolicy::NoMatch);
            assert_eq!(set.indexed_rules(), 0, "{source}");
            inputs.iter().for_each(|input| as_alone(&set, &program, &input.call()));
        }
    }
}

/// All rules together, several times, so that keys meet in one lookup, and pay.
#[test]
fn all_kinds_of_keys_together() {
    let env = env();
    let inputs = inputs();
    let cases = CASES.iter().map(|(source, ..)| (*source).to_owned());
    let mut sources: Vec<String> = cases.chain(KEYLESS.iter().map(|source| (*source).to_owned())).collect();
    for n in 0..4 {
        let further = CASES.iter().map(|(source, ..)| format!("({source}) && size != {n}"));
        sources.extend(further);
    }
    for tier in TIERS {
        let engine = engine(tier);
        let alone: Vec<_> = sources.iter().map(|source| engine.compile(&env, source).unwrap()).collect();
        for indexing in [Indexing::Always, Indexing::Auto] {
            for policy in POLICIES {
                let set = build(&engine, &env, &sources, indexing, policy);
                assert!(set.indexed_rules() * 2 > sources.len(), "{} of {}", set.indexed_rules(), sources.len());
                inputs.iter().for_each(|input| as_alone(&set, &alone, &input.call()));
            }
        }
    }
}

/// Literals of one text are looked up together, whether their case counts or not.
#[test]
fn literals_whose_case_counts_are_told_from_others() {
    let env = env();
    let mut scratch = Scratch::new();
    let of = |n| [format!("request.path.wildcard('*ab{n}x*')"), format!("request.path.contains('aB{n}x')")];
    let sources: Vec<String> = (0..20).flat_map(of).collect();
    for tier in TIERS {
        let set = build(&engine(tier), &env, &sources, Indexing::Always, ErrorPolicy::NoMatch);
        assert_eq!(set.indexed_rules(), sources.len());
        for (written, found) in [
            ("path=/aB7x", &[14, 15][..]),
            ("path=/ab7x", &[14]),
            ("path=/AB7X", &[14]),
            ("path=/AB7XaB8x/ab7x", &[14, 16, 17]),
            ("path=/aB7", &[]),
        ] {
            let input = Input::new(written);
            assert_eq!(set.candidates(&input.call(), &mut scratch), found, "{written} in {tier:?}");
            assert_eq!(set.any(&input.call(), &mut scratch), Ok(!found.is_empty()), "{written} in {tier:?}");
        }
    }
}

/// Rules like [`others`] that never fail.
fn guarded_others() -> impl Iterator<Item = String> {
    (0..12).flat_map(|n| {
        let header = format!("'x-a' in request.headers && request.headers['x-a'] == 'other-{n}'");
        [header, format!("has(client.note) && client.note == 'other-{n}'")]
    })
}

#[test]
fn a_guarded_header_is_not_found_where_it_is_absent() {
    let env = env();
    let mut scratch = Scratch::new();
    let guarded = "'x-a' in request.headers && request.headers['x-a'] == '1'";
    let bare = "  request.headers['x-a'] == '1'";
    let calls = [("path=/", false, false), (":x-a=2", false, false), (":x-a=1", true, true)];
    for tier in TIERS {
        for policy in POLICIES {
            for source in [guarded, "has(client.note) && client.note == '1'"] {
                let sources: Vec<String> = std::iter::once(source.to_owned()).chain(guarded_others()).collect();
                let set = build(&engine(tier), &env, &sources, Indexing::Always, policy);
                assert_eq!(set.indexed_rules(), sources.len(), "{source}");
                for (written, found, matched) in calls {
                    let input = Input::new(
                        if source == guarded { written.to_owned() } else { written.replace(":x-a", "note") }.as_str(),
                    );
                    let call = input.call();
                    assert_eq!(
                        set.candidates(&call, &mut scratch).len(),
                        usize::from(found),
                        "{source} for {written}, {policy:?}"
                    );
                    assert_eq!(set.any(&call, &mut scratch), Ok(matched));
                    assert!(scratch.errors().is_empty());
                }
            }
            let set = build(&engine(tier), &env, &[bare], Indexing::Always, policy);
            let alone = [engine(tier).compile(&env, bare).unwrap()];
            for (written, found, _) in calls {
                let input = Input::new(written);
                // Where it matters that it fails, it is found where it does.
                let found = found || written == "path=/" && policy != ErrorPolicy::NoMatch;
                assert_eq!(
                    set.candidates(&input.call(), &mut scratch).len(),
                    usize::from(found),
                    "{written}, {policy:?}"
                );
                as_alone(&set, &alone, &input.call());
            }
        }
    }
}
