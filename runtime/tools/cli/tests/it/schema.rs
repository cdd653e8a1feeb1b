//! What `--json` prints has the form of `docs/command.schema.json`.

use crate::support::{celero, file};
use serde_json::Value as Json;

fn schema() -> Json {
    serde_json::from_str(include_str!("../../../../../docs/command.schema.json")).unwrap()
}

/// Checks a value against a part of the schema: the keywords that the file uses, and no others.
/// Returns why it does not fit.
fn check(root: &Json, schema: &Json, value: &Json, place: &str) -> Result<(), String> {
    for (keyword, rule) in schema.as_object().unwrap() {
        let fail = |why: &str| Err(format!("{place}: {why}: {value}"));
        let texts = |list: &Json| -> Vec<String> {
            list.as_array().unwrap().iter().map(|t| t.as_str().unwrap().to_owned()).collect()
        };
        let (count, bound) = (value.as_object().map_or(0, serde_json::Map::len), rule.as_u64().unwrap_or(0));
        match keyword.as_str() {
            "$schema" | "title" | "description" | "definitions" | "minimum" => {}
            "$ref" => {
                let target = root.pointer(rule.as_str().unwrap().strip_prefix('#').unwrap()).unwrap();
                check(root, target, value, place)?;
            }
            "anyOf" => {
                let failures: Vec<String> =
                    rule.as_array().unwrap().iter().filter_map(|one| check(root, one, value, place).err()).collect();
                if failures.len() == rule.as_array().unwrap().len() {
                    return Err(failures.join("\n"));
                }
            }
            "enum" => {
                if !rule.as_array().unwrap().contains(value) {
                    return fail("not one of the values");
                }
            }
            "type" => {
                let types = if rule.is_array() { texts(rule) } else { vec![rule.as_str().unwrap().to_owned()] };
                let fits = types.iter().any(|ty| match ty.as_str() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "number" => value.is_number(),
                    "null" => value.is_null(),
                    other => panic!("type {other}"),
                });
                if !fits {
                    return fail(&format!("not {}", types.join(" or ")));
                }
            }
            "required" if value.is_object() => {
                for name in texts(rule) {
                    if value.get(&name).is_none() {
                        return fail(&format!("no member `{name}`"));
                    }
                }
            }
            "properties" => {
                for (name, one) in rule.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        check(root, one, value, &format!("{place}.{name}"))?;
                    }
                }
            }
            "additionalProperties" if value.is_object() => {
                for name in value.as_object().unwrap().keys() {
                    if schema["properties"].get(name).is_none() {
                        return fail(&format!("unknown member `{name}`"));
                    }
                }
            }
            "items" => {
                for (number, one) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, rule, one, &format!("{place}[{number}]"))?;
                }
            }
            "minItems" | "maxItems" if value.as_array().is_some_and(|list| list.len() as u64 != bound) => {
                return fail("another number of elements");
            }
            "minProperties" | "maxProperties" if count as u64 != bound => return fail("another number of members"),
            "required" | "additionalProperties" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {}
            other => panic!("keyword {other}"),
        }
    }
    Ok(())
}

#[test]
fn the_schema_describes_every_output() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples");
    let [policy, cases, request] =
        ["policy.yaml", "cases.yaml", "request.http"].map(|name| format!("{examples}/{name}"));
    let rules = file("schema.rules", "a [tag deny]: request.path == \"/a\"\nb: request.headers[\"x\"] == \"y\"\n");
    let wrong = file("schema-wrong.rules", "a: request.pth == 1\n");
    let bad = file("schema-bad.yaml", "request:\n- dny: true\n");
    let values = "[null, true, 1, 2u, 1.5, 0.0/0.0, 'a', b'b', duration('1s'), timestamp('2009-02-13T23:31:30Z'), {'k': [1]}, int, \
                  optional.of(1), optional.none(), ip('::1'), cidr('10.0.0.0/8')]";
    let [nets, no_nets] = [file("schema.txt", "10.0.0.0/8\n10.0.0.0/8\n"), file("schema-wrong.txt", "10.0.0.0/99\n")];
    let schema = schema();
    let commands: &[(&str, &[&str])] = &[
        ("check", &["check", "-e", "1 == 1"]),
        ("check", &["check", "-e", "nope"]),
        ("check", &["check", "--language", "filter", "-e", "cf.threat_score gt 1"]),
        ("explain", &["explain", "--language", "filter", "-e", "http.host eq \"a\"", "--request", &request]),
        ("check", &["check", &rules]),
        ("check", &["check", &wrong]),
        ("check", &["check", &policy]),
        ("check", &["check", &bad]),
        ("checkFiles", &["check", &rules, &wrong, &policy]),
        ("eval", &["eval", "-e", values]),
        ("eval", &["eval", "--why", "-e", "1 == 1 && size('a') > 3"]),
        ("evalRules", &["eval", "--why", &rules, "--requests", &request]),
        ("eval", &["eval", "-e", "1 / 0"]),
        ("eval", &["eval", "-e", "1 +"]),
        ("evalRules", &["eval", &rules, "--requests", &request]),
        ("explain", &["explain", "-e", "request.path.startsWith('/a')", "--request", &request]),
        ("explain", &["explain", "-e", "nope"]),
        ("explain", &["explain", &policy]),
        ("explain", &["explain", &bad]),
        ("explainRules", &["explain", &rules, "--requests", &request]),
        ("explainRules", &["explain", &wrong]),
        ("bench", &["bench", "--time", "5", &rules, "--requests", &request, "--by-rule"]),
        ("bench", &["bench", "--time", "5", &policy, "--requests", &request]),
        ("bench", &["bench", "-e", "1 +"]),
        ("listsCheck", &["lists", "check", "--kind", "addresses", &nets, &no_nets]),
        ("listsShow", &["lists", "show", "--kind", "addresses", &nets, "10.0.0.1"]),
        ("listsDiff", &["lists", "diff", "--kind", "addresses", &nets, &nets]),
        ("listsBench", &["lists", "bench", "--time", "5", "--kind", "addresses", &nets]),
        ("test", &["test", &policy, &cases]),
        ("test", &["test", &bad, &cases]),
    ];
    for (name, args) in commands {
        let run = celero(&[args, &["--json"][..]].concat());
        let part = &schema["definitions"][name];
        check(&schema, part, &run.json(), name).unwrap_or_else(|why| panic!("{args:?}\n{why}"));
    }
    for (name, value) in
        [("check", "{\"ok\": true}"), ("eval", "{\"value\": {\"int\": 1}}"), ("eval", "{\"value\": {}, \"x\": 1}")]
    {
        let value: Json = serde_json::from_str(value).unwrap();
        assert!(
            check(&schema, &schema["definitions"][name], &value, name).is_err(),
            "the check refuses what does not fit"
        );
    }
}
