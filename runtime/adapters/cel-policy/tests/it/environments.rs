//! Environment files.

use celero::{Bindings, Context, Engine, Env, Type};
use celero_cel_policy::{CelPolicy, Environment};

fn parsed(file: &str) -> Environment {
    Environment::parse("env.yaml", file).unwrap_or_else(|error| panic!("{error}"))
}

fn dynamic(file: &str) -> Env<Bindings<'static>> {
    parsed(file).bindings_for_tools(Env::dynamic()).unwrap_or_else(|error| panic!("{error}"))
}

/// Whether an expression is valid.
fn accepts(env: &Env<Bindings<'static>>, expression: &str) -> bool {
    Engine::new().check(env, expression).is_ok()
}

/// Tests that a file is refused with this message at this place.
fn refused(file: &str, message: &str, place: &str) {
    let found = Environment::parse("env.yaml", file).and_then(|file| file.bindings(Env::dynamic())).map(|_| ());
    let found = found.err().unwrap_or_else(|| panic!("this is accepted:\n{file}")).to_string();
    assert!(found.contains(message) && found.contains(&format!("env.yaml:{place}")), "{found}");
}

#[test]
fn types_are_those_of_the_file() {
    let file = "
variables:
- {name: plain, type_name: int}
- {name: nested, type: {type_name: map, params: [{type_name: string}, {type_name: list, params: [{type_name: uint}]}]}}
- {name: short, type: 'map<string, list<int>>'}
- {name: when, type_name: google.protobuf.Timestamp}
- {name: later, type_name: timestamp}
- {name: maybe, type_name: string_wrapper}
- {name: opt, type_name: optional_type, params: [{type_name: bool}]}
";
    let env = dynamic(file);
    let types: Vec<String> = env.declarations().variables().iter().map(|variable| variable.ty.to_string()).collect();
    let expected = [
        "int",
        "map(string, list(uint))",
        "map(string, list(int))",
        "google.protobuf.Timestamp",
        "google.protobuf.Timestamp",
        "wrapper(string)",
        "optional_type(bool)",
    ];
    assert_eq!(types, expected);
}

#[test]
fn libraries_are_those_that_the_file_names() {
    let none = dynamic("name: x\n");
    assert!(accepts(&none, "[1].all(n, n > 0) && optional.of(1).hasValue() && cel.bind(x, 1, x == 1)"));
    for expression in ["'a'.charAt(0) == 'a'", "[1].all(i, n, n > i)", "math.greatest(1, 2) == 2", "isIP('::1')"] {
        assert!(!accepts(&none, expression), "{expression}");
    }
    let some = dynamic(
        "extensions:\n- {name: strings, version: 2}\n- name: two-var-comprehensions\n- {name: celero.network, version: latest}\n",
    );
    assert!(accepts(&some, "'a'.charAt(0) == 'a' && [1].all(i, n, n > i) && isIP('::1')"));
    refused("extensions: [{name: string}]\n", "did you mean `strings`?", "1:21");
    refused("extensions: [{name: strings, version: 99}]\n", "has version 5 at most", "1:39");
}

#[test]
fn macros_and_functions_are_taken_away() {
    let env = dynamic(
        "variables: [{name: m, type_name: map, params: [string, dyn]}]\nstdlib: {include_macros: [all, map]}\n",
    );
    assert!(accepts(&env, "[1].all(n, n > 0) && [1].map(n, n) == [1]"));
    for expression in ["[1].exists(n, n > 0)", "[1].filter(n, n > 0) == []", "has(m.x)", "[1].exists_one(n, n > 0)"] {
        assert!(!accepts(&env, expression), "{expression}");
    }
    let env =
        dynamic("stdlib:\n  exclude_functions: [{name: matches}, {name: _+_}, {name: '_||_'}, {name: '_?_:_'}]\n");
    assert!(accepts(&env, "'a'.startsWith('a') && 2 - 1 == 1"));
    for expression in ["'a'.matches('a')", "1 + 1 == 2", "true || false", "true ? true : false"] {
        assert!(!accepts(&env, expression), "{expression}");
    }
    let env = dynamic("stdlib: {include_functions: [{name: _==_}, {name: size}]}\n");
    assert!(accepts(&env, "'a'.size() == 1") && !accepts(&env, "'a'.size() > 1") && !accepts(&env, "true && true"));
    refused("stdlib: {include_macros: [al]}\n", "`al` is no macro of the standard library", "1:27");
    refused("stdlib: {disabled: true}\n", "not supported: `disabled`", "1:20");
    refused("stdlib: {exclude_functions: [{name: sizes}]}\n", "did you mean `size`?", "1:37");
    refused("stdlib: {include_macros: [all], exclude_macros: [map]}\n", "exclude each other", "1:49");
}

#[test]
fn functions_are_the_hosts() {
    let file = "
functions:
- name: plan
  overloads:
  - {id: plan_string, args: [{type_name: string}], return: {type_name: string}}
  - {id: plan_int, args: [{type_name: int}], return: {type_name: string}}
- name: initial
  overloads:
  - {id: string_initial, target: {type_name: string}, return: {type_name: string}}
";
    let plan = |env: Env<Bindings<'static>>| env.function("plan", |name: &str| name.to_owned());
    let initial = |env: Env<Bindings<'static>>| env.method("initial", |name: &str| name.to_owned());
    let missing = parsed(file).bindings(initial(plan(Env::dynamic()))).map(|_| ()).unwrap_err().to_string();
    assert!(missing.contains("the host has no function `plan(int) -> string`"), "{missing}");
    assert!(missing.contains("it has `plan(string) -> string`") && missing.contains("env.yaml:6:"), "{missing}");
    let whole = initial(plan(Env::dynamic())).function("plan", |id: i64| id.to_string());
    let env = parsed(file).bindings(whole).unwrap();
    assert!(accepts(&env, "plan('a') == plan(1) && 'b'.initial() == 'b'"));
    let env = dynamic(file);
    assert!(accepts(&env, "plan('a') == plan(1) && 'b'.initial() == 'b'") && !accepts(&env, "plan(true) == ''"));
}

#[test]
fn a_context_must_have_what_the_file_says() {
    #[derive(Context)]
    struct Call {
        #[context(name = "user.age")]
        age: i64,
    }
    let file = "variables: [{name: user.age, type_name: int}]\n";
    let env = parsed(file).context(Env::<Call>::new()).unwrap();
    assert!(Engine::new().compile(&env, "user.age > 17").unwrap().test(&Call { age: 18 }).unwrap());
    let file = "variables:\n- {name: user.age, type_name: string}\n- {name: user.name, type_name: string}\n";
    let error = parsed(file).context(Env::<Call>::new()).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("variable `user.age` is `int` in the host, not `string`"), "{error}");
    assert!(error.contains("the host has no variable `user.name`") && error.contains("env.yaml:3:10"), "{error}");
}

#[test]
fn messages_are_named_by_container_and_imports() {
    let types = celero::messages::Descriptors::well_known();
    let file = "container: google\nimports: [{name: google.protobuf.Duration}]\n";
    let env = parsed(file).bindings(Env::dynamic().messages(&types)).unwrap();
    assert!(accepts(&env, "protobuf.Duration{seconds: 1} == Duration{seconds: 1}"));
    assert!(accepts(&env, "Duration{seconds: 1} == google.protobuf.Duration{seconds: 1}"));
    assert!(!accepts(&env, "Timestamp{seconds: 1} == protobuf.Timestamp{seconds: 1}"));
}

#[test]
fn the_fields_of_a_context_message_are_variables() {
    let types = celero::messages::Descriptors::well_known();
    let file = "context_variable: {type_name: google.protobuf.Duration}\n";
    let env = parsed(file).bindings(Env::dynamic().messages(&types)).unwrap();
    assert!(accepts(&env, "seconds == 1") && !accepts(&env, "minutes == 1"));
    refused("context_variable: {type_name: a.B}\n", "`a.B` is no declared message", "1:31");
    refused("context_variable: {type_name: a.B}\nvariables: []\n", "but not both", "2:12");
}

#[test]
fn what_is_not_supported_is_an_error() {
    refused("", "the file is empty", "1:1");
    refused("variable: []\n", "did you mean `variables`?", "1:1");
    refused("variables: [{name: x, type_name: strin}]\n", "undefined type name: `strin`", "1:34");
    refused("variables: [{name: x, type_name: list}]\n", "`list` takes 1 parameter, and has 0", "1:34");
    refused("variables: [{name: x, type: 'map<string'}]\n", "is no type", "1:29");
    refused("variables: [{name: in, type_name: int}]\n", "reserved word", "1:20");
    refused("variables: [{name: x}]\n", "a variable has no `type_name`", "1:13");
    refused("validators: [{name: cel.validator.homogeneous}]\n", "not supported: the validator", "1:21");
    let nesting = "validators: [{name: cel.validator.bind_nesting_limit";
    refused(&format!("{nesting}}}]\n"), "has no `limit` in its `config`", "1:21");
    refused(&format!("{nesting}, config: {{limit: -1}}}}]\n"), "is a whole number", "1:71");
    refused(&format!("{nesting}, config: {{most: 1}}}}]\n"), "has no key `most`", "1:64");
    refused("features: [{name: cel.feature.json_field_names, enabled: true}]\n", "not supported: the feature", "1:19");
    refused("features: [{name: cel.feature.x, enabled: true}]\n", "not supported: the feature", "1:19");
    refused("limits: [{name: cel.limit.regex_program_size, value: 1}]\n", "not supported: the limit", "1:17");
    refused("imports: [{name: 'a b'}]\n", "invalid qualified name: a b", "1:18");
    refused("container: 'a b'\n", "container `a b`", "1:12");
    parsed(
        "validators: [{name: cel.validator.duration}]\nfeatures: [{name: cel.feature.macro_call_tracking, enabled: true}]\n",
    );
}

#[test]
fn limits_are_the_engines() {
    let file = parsed(
        "limits:\n- {name: cel.limit.parse_recursion_depth, value: 7}\n- {name: cel.limit.expression_code_points, value: 99}\n",
    );
    let limits = file.limits(celero::settings::SourceLimits::default());
    assert_eq!((limits.max_depth, limits.max_source_bytes), (7, 99));
    assert_eq!(parsed("name: e\n").name(), Some("e"));
    assert_eq!(dynamic("variables: [{name: x, type_name: any}]\n").declarations().variables()[0].ty, Type::Dyn);
}

#[test]
fn validators_refuse_expressions() {
    for (validator, accepted, refused) in [
        ("name: cel.validator.duration", "duration('1s') > duration('0s')", "duration('1') > duration('0s')"),
        ("name: cel.validator.timestamp", "timestamp(0) == timestamp(0)", "timestamp('') == timestamp(0)"),
        ("name: cel.validator.matches", "'a'.matches('a+')", "'a'.matches('(a')"),
        ("name: cel.validator.homogeneous_literals", "1 in [1, 2]", "1 in [1, 'a']"),
        (
            "name: cel.validator.comprehension_nesting_limit, config: {limit: 1}",
            "[1].exists(a, a > 0)",
            "[[1]].exists(a, a.exists(b, b > 0))",
        ),
        (
            "name: cel.validator.bind_nesting_limit, config: {limit: 1}",
            "cel.bind(a, 1, a > 0)",
            "cel.bind(a, 1, cel.bind(b, a, b > 0))",
        ),
    ] {
        let (strict, plain) = (dynamic(&format!("validators: [{{{validator}}}]\n")), dynamic("name: plain\n"));
        assert!(accepts(&strict, accepted), "{accepted}");
        assert!(!accepts(&strict, refused) && accepts(&plain, refused), "{refused}");
    }
}

#[test]
fn the_newest_versions_of_extensions_are_those_of_cel_go() {
    for (name, newest) in [
        ("bindings", 1),
        ("encoders", 2),
        ("lists", 5),
        ("math", 3),
        ("optional", 4),
        ("protos", 1),
        ("regex", 1),
        ("sets", 1),
        ("strings", 5),
        ("two-var-comprehensions", 1),
        ("celero.hmac", 0),
        ("celero.jwt", 0),
    ] {
        parsed(&format!("extensions: [{{name: {name}, version: {newest}}}]\n"));
        let newer = newest + 1;
        refused(&format!("extensions: [{{name: {name}, version: {newer}}}]\n"), &format!("{newest} at most"), "1:");
    }
}

#[test]
fn encoders_bring_yaml_and_tokens_are_named() {
    let (encoders, tokens) =
        (dynamic("extensions: [{name: encoders}]\n"), dynamic("extensions: [{name: celero.jwt}]\n"));
    for (env, other, expression) in [
        (&encoders, &tokens, "json.parse('1', int).hasValue() && json.encode(1) == '1'"),
        (&encoders, &tokens, "yaml.parse('1', int).hasValue() && yaml.encode(1) == '1'"),
        (&tokens, &encoders, "jwt.parse('').presentedBy('a', 'b')"),
    ] {
        assert!(accepts(env, expression) && !accepts(other, expression), "{expression}");
    }
    let typed = dynamic("extensions: [{name: celero.jwt}]\nvariables: [{name: t, type_name: jwt.Token}]\n");
    assert!(accepts(&typed, "t.subject == 'ada' && t.claim('a').hasValue()") && !accepts(&typed, "t.nothing == 1"));
}

/// The errors of a policy of an environment with a validator; `None` if it compiles.
fn judged(validator: &str, policy: &str) -> Option<String> {
    let env = dynamic(&format!("extensions: [{{name: strings}}]\nvalidators: [{{name: cel.validator.{validator}}}]\n"));
    CelPolicy::compile(&Engine::new(), &env, policy).err().map(|error| error.render("policy.yaml", false))
}

#[test]
fn validators_judge_each_expression_of_a_policy() {
    let nesting = "bind_nesting_limit, config: {limit: 1}";
    let loops = "comprehension_nesting_limit, config: {limit: 1}";
    let policy = |first: &str, condition: &str, output: &str| {
        format!(
            "rule:\n  variables:\n  - {{name: x, expression: \"{first}\"}}\n  - {{name: y, expression: 'variables.x'}}\n  match:\n  - condition: \"{condition}\"\n    output: \"{output}\"\n"
        )
    };
    let (bind, exists) = ("cel.bind(a, 1, a)", "[1].exists(a, a > 0)");
    // Neither the bindings of the variables nor the lists of the composition count.
    for validator in [nesting, loops, "homogeneous_literals", "duration"] {
        let within = policy(bind, &format!("{exists} && variables.y > 0"), "cel.bind(b, 1, variables.x + b)");
        assert_eq!(judged(validator, &within), None, "{validator}");
    }
    let list = "rule:\n  aggregate:\n  - {condition: '1 > 0', output: '[1]'}\n  - output: '[2]'\n";
    assert_eq!(judged("homogeneous_literals", list), None);
    for (validator, wrong, part) in [
        (nesting, "cel.bind(a, 1, cel.bind(b, a, b)) > 0", "bindings are nested 2 deep here, 1 is the limit"),
        (loops, "[[1]].exists(a, a.exists(b, b > 0))", "loops are nested 2 deep here, 1 is the limit"),
        ("homogeneous_literals", "1 in [1, 'a']", "this element is `string`, the first one is `int`"),
        ("matches", "'a'.matches('(a')", "this is not a regular expression"),
        ("string_format", "'%d'.format([]) == ''", "format"),
        ("duration", "duration('1') > duration('0s')", "duration"),
        ("timestamp", "timestamp('') == timestamp(0)", "timestamp"),
    ] {
        // A variable, a condition and an output, at their places in the file.
        for (text, line) in [
            (policy(wrong, "variables.y", "1"), 3),
            (policy("1", &format!("{wrong} && variables.y > 0"), "1"), 6),
            (policy("1", "variables.y > 0", wrong), 7),
        ] {
            let Some(shown) = judged(validator, &text) else { panic!("{validator} accepts\n{text}") };
            assert!(shown.contains(part) && shown.contains(&format!("policy.yaml:{line}:")), "{validator}: {shown}");
        }
    }
    // An explanation is no part of the program.
    let explained =
        |text: &str| format!("rule:\n  match:\n  - {{output: '1', explanation: \"'a' + string({text})\"}}\n");
    assert_eq!(judged(nesting, &explained(bind)), None);
    let shown = judged(nesting, &explained("cel.bind(a, 1, cel.bind(b, a, b))")).unwrap();
    assert!(shown.contains("policy.yaml:3:"), "{shown}");
}

#[test]
fn validators_judge_a_policy_as_it_calls_definitions() {
    let env = dynamic("validators: [{name: cel.validator.bind_nesting_limit, config: {limit: 1}}]\n");
    let env = env.define("twice(n: int) -> int", "cel.bind(m, n, m + m)");
    let policy = "rule:\n  match:\n  - output: cel.bind(a, 1, twice(a))\n";
    assert!(CelPolicy::compile(&Engine::new(), &env, policy).is_ok());
}
