//! Rules that an index finds fail as they do standalone.

use super::*;

/// What fails is found, and fails where its own source says, next to what makes the failure be of no consequence.
#[test]
fn failures_are_those_of_the_rules_alone() {
    let env = env();
    let sources = [
        "request.headers['x-a'] == '1'",
        "   request.headers['x-a'] == '1'",
        "request.headers['x-a'] == '1' && request.path == '/a'",
        "request.path == '/a' && request.headers['x-a'] == '1'",
        "request.headers['x-a'] == '1' && request.headers['x-b'] == '2'",
        "'x-a' in request.headers && request.headers['x-b'] == '2'",
        "request.headers['x-a'].startsWith('1') || request.path == '/a'",
        "!('x-a' in request.headers) && request.headers['x-a'] == '1'",
        "default(request.headers['x-a'], '1') == '1' && request.headers['x-b'] == '2'",
        "request.headers['x-a'].matches('^1+$') && 1 / size == 1",
        "request.path == '/a' && 1 / size == 1",
        "request.path == '/a' && client.note.startsWith('n')",
        "client.note == 'n' && client.admin",
        "!client.admin && request.path == '/a'",
        "cidr('10.0.0.0/8').containsIP(source.address) && request.path == '/a'",
        "request.headers['x-a'].lowerAscii() == 'a' && request.path == '/a'",
        "request.headers['x-a'] in ['1', '2'] ? request.path == '/a' : false",
    ];
    let mut inputs: Vec<Input> = Vec::new();
    for path in ["path=/a", "path=/b"] {
        for a in ["", ":x-a=1", ":x-a=", ":x-a=A", ":x-a=1 :x-a=2", ":x-a=%ff"] {
            for rest in
                ["", ":x-b=2 size=1", "note=n", "note=n admin=true peer=10.0.0.1", "admin=false :x-b=1", "peer=::1"]
            {
                inputs.push(Input::new(&format!("{path} {a} {rest}")));
            }
        }
    }
    for tier in TIERS {
        let engine = engine(tier);
        let alone: Vec<_> = sources.iter().map(|source| engine.compile(&env, source).unwrap()).collect();
        let failures = |input: &&Input| alone.iter().any(|program| program.test(&input.call()).is_err());
        assert!(inputs.iter().filter(failures).count() > 20);
        for policy in POLICIES {
            for indexing in [Indexing::Always, Indexing::Auto] {
                // Often enough that lookups pay.
                let often = build(&engine, &env, &sources.repeat(8), indexing, policy);
                let once = build(&engine, &env, &sources, indexing, policy);
                assert!(
                    often.indexed_rules() > sources.len() * 4
                        && (indexing == Indexing::Auto || once.indexed_rules() > 12)
                );
                for input in &inputs {
                    as_alone(&once, &alone, &input.call());
                }
                let again: Vec<_> =
                    sources.repeat(8).iter().map(|source| engine.compile(&env, source).unwrap()).collect();
                inputs.iter().step_by(5).for_each(|input| as_alone(&often, &again, &input.call()));
            }
        }
    }
}
