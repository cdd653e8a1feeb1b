//! Sets that one lookup finds: most questions find nothing, and then nothing else is done. What is
//! found, and what an earlier question left behind, must not show in the next answer.

use super::*;

/// Conditions of which `{n}` makes one of a set, each by one kind of key.
const SHAPES: &[&str] = &[
    "request.path == '/{n}'",
    "request.path.startsWith('/{n}')",
    "request.path.endsWith('/{n}')",
    "request.path.contains('/{n}')",
    "request.path.matches('(?i)/{n}k')",
    "request.host == 'h{n}'",
    "request.headers['x-a'] == '{n}'",
    "request.headers['x-a'].contains('{n}')",
    "request.headers['x-a'].lowerAscii() == 'a{n}'",
    "'x-{n}' in request.headers",
    "client.note == '{n}'",
    "client.note.startsWith('{n}')",
    "size == {n}",
    "size > {n}",
    "size == {n} || size > 1000 + {n}",
    "count == {n}u",
    "count < 3u || count == {n}u",
    "source.port == 4{n}00",
    "cidr('10.{n}.0.0/16').containsIP(client.ip)",
    "cidr('2001:db8:{n}::/48').containsIP(client.ip)",
    "request.host == 'h{n}' && 10 / size > 1",
];

const CALLS: &[&str] = &[
    "path=/ size=-1",
    "path=/7 size=7 count=7 note=7 :host=h7 :x-a=7 ip=10.7.1.2 peer=192.0.2.9",
    "path=/7K/x size=6 count=2 :host=H7 :x-a=A7 :x-7=b ip=::ffff:10.7.0.1",
    "path=/19/7 size=1012 count=18446744073709551615 note= :host=h19 ip=2001:db8:19::1",
    "path=/7 size=0 :host=h7 :x-a=x7 :x-a=12 ip=2001:db8::1",
    "path=/no size=-9223372036854775808 :host= :x-a=",
];

#[test]
fn each_answer_is_that_of_the_rules_alone() {
    let env = env();
    let inputs: Vec<Input> = CALLS.iter().map(|written| Input::new(written)).collect();
    for tier in TIERS {
        let engine = engine(tier);
        for shape in SHAPES {
            let sources: Vec<String> = (0..20).map(|n| shape.replace("{n}", &n.to_string())).collect();
            let alone: Vec<_> = sources.iter().map(|source| engine.compile(&env, source).unwrap()).collect();
            for policy in POLICIES {
                let set = build(&engine, &env, &sources, Indexing::Always, policy);
                assert_eq!(set.indexed_rules(), sources.len(), "{shape} in {tier:?}");
                inputs.iter().for_each(|input| as_alone(&set, &alone, &input.call()));
            }
        }
    }
}

#[test]
fn nothing_of_an_earlier_question_remains() {
    let env = env();
    let mut scratch = Scratch::new();
    for tier in TIERS {
        let rules = engine(tier).rules(&env).index(Indexing::Always).on_error(ErrorPolicy::NoMatch);
        let rules =
            (1..20).fold(rules, |rules, n| rules.rule("", &format!("request.host == 'h{n}' && 10 / size > {n}"), ()));
        let set = rules.with_rules([Rule::new("", "request.host == 'h0'", ()).tag("t")]).build().unwrap();
        for (written, matched, errors) in [
            (":host=h0", Some(19), 0),
            (":host=none", None, 0),
            (":host=h3 size=0", None, 1),
            (":host=none size=0", None, 0),
            (":host=h3 size=1", Some(2), 0),
            ("path=/", None, 0),
        ] {
            let input = Input::new(written);
            let call = input.call();
            let all: Vec<usize> = matched.into_iter().collect();
            assert_eq!(set.indices(&call, &mut scratch), Ok(&*all), "{written} in {tier:?}");
            assert_eq!(scratch.errors().len(), errors, "{written} in {tier:?}");
            let tags = set.first_per_tag(&call, &mut scratch).unwrap().count();
            assert_eq!(tags, usize::from(matched == Some(19)), "{written} in {tier:?}");
            assert_eq!(set.any(&call, &mut scratch), Ok(matched.is_some()), "{written} in {tier:?}");
            assert_eq!(set.candidates(&call, &mut scratch).len(), all.len().max(errors), "{written} in {tier:?}");
        }
    }
}
