//! Error messages. The policies are in `tests/errors/*.yaml`, each with its messages after `# ---`;
//! `BLESS=1` writes these anew.

use crate::support::{Folder, wrong};
use celero_policy::Policy;
use std::path::Path;

#[test]
fn messages_are_as_recorded() {
    const MARK: &str = "# ---\n";
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    let bless = std::env::var_os("BLESS").is_some();
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        count += 1;
        let content = std::fs::read_to_string(&path).unwrap();
        let (policy, expected) = content.split_once(MARK).unwrap();
        let error = Policy::parse("policy.yaml", policy, Path::new("/nowhere")).err();
        let actual: String = error
            .unwrap_or_else(|| panic!("{} is right", path.display()))
            .to_string()
            .lines()
            .map(|line| format!("# {line}\n").replace(" \n", "\n"))
            .collect();
        if bless {
            std::fs::write(&path, format!("{policy}{MARK}{actual}")).unwrap();
        } else {
            assert_eq!(expected, actual, "{}", path.display());
        }
    }
    assert!(count >= 9, "{count}");
}

/// Tests that a policy is rejected with a message at a position.
fn reports(text: &str, place: &str, message: &str) {
    let error = wrong(text);
    assert!(error.contains(&format!("policy.yaml:{place}")) && error.contains(message), "{place} {message}\n{error}");
}

#[test]
fn places_are_right_in_every_style_of_yaml() {
    reports("request:\n- when: 'request.pat == \"x\"'\n  deny: true\n", "2:18", "request.pat");
    reports("request:\n- when: \"request.path == \\\"x\\\" && nme\"\n  deny: true\n", "2:35", "`nme`");
    reports("request:\n- when: |\n    request.path == 'x'\n      && nme\n  deny: true\n", "4:10", "`nme`");
    reports("request:\n- when: >-\n    request.path == 'x'\n    && nme\n  deny: true\n", "4:8", "`nme`");
    reports("request:\n- when: request.path == 'x'\n    && nme\n  deny: true\n", "3:8", "`nme`");
    reports("request:\n- setHeaders: {x-a: 'it''s ${nme}'}\n", "2:30", "`nme`");
    reports("# ä\nrequest:\n- when: 'request.path == \"ä\" && nme'\n  deny: true\n", "3:33", "`nme`");
    reports("request:\r\n- when: |\r\n    true\r\n    && nme\r\n  deny: true\r\n", "4:8", "`nme`");
    reports("variables:\n  a: request.path + nme\n", "2:21", "`nme`");
    reports("functions:\n  'f(a: sting) -> string': a\n", "2:9", "sting");
    reports("functions:\n  'f(a: string) -> string': a + 1\n", "2:31", "no overload of `+`");
}

#[test]
fn files_that_are_no_policies_are_refused() {
    reports("a: [", "1:", "this is not YAML");
    reports("request:\n- when: request.path == '/' ? true : false\n", "2:", "needs quotes, or a block");
    reports("- a\n", "1:1", "not a list");
    reports("just text\n", "1:1", "`just text`");
    reports("request: &a []\nresponse: *a\n", "2:11", "aliases are not supported");
    reports("request: !!seq []\n", "1:", "tags are not supported");
    reports("request: []\n---\nlog: []\n", "2:", "one document");
    reports("request: []\nrequest: []\n", "2:1", "a second time");
    reports("[a]: 1\n", "1:", "a key must be text");
    reports(&format!("env: {}", "[".repeat(100)), "1:", "deeper than 32 levels");
    reports("\u{feff}reqest: []\n", "1:1", "did you mean `request`?");
}

#[test]
fn values_that_make_no_sense_are_refused() {
    reports("request:\n- sample: 1.5\n  deny: true\n", "2:11", "above 0 and up to 1");
    reports("request:\n- deny: 42\n", "2:9", "`true` or a number from 200 to 599 or a mapping, not `42`");
    reports("request:\n- deny:\n", "2:", "not nothing");
    reports("request:\n- allow: false\n", "2:10", "`allow` is `true`, not `false`");
    reports("request:\n- deny: true\n  allow: true\n", "3:3", "ends its phase once");
    reports("request:\n- redirect: {status: 200, to: /}\n", "2:22", "`301`");
    reports("request:\n- redirect: {status: 301}\n", "2:", "a redirect needs the key `to`");
    reports("request:\n- respond: {status: 204, body: x}\n", "2:32", "has no body");
    reports("request:\n- when: request.path\n  deny: true\n", "2:9", "a condition is `bool`, this is `string`");
    reports(
        "request:\n- setHeaders: {x-a: '${[request.path]}'}\n",
        "2:24",
        "a result of type `list(string)` has no text",
    );
    reports("request:\n- setHeaders: {x-a: 'b ${request.path'}\n", "2:24", "never closed");
    reports("request:\n- setHeaders: {x a: b}\n", "2:16", "not the name of a header");
    reports("request:\n- setHeaders: {x-a: \"b\\r\\nx-evil: 1\"}\n", "2:21", "line break");
    reports("request:\n- removeHeaders: [content-length]\n", "2:19", "a policy can't change it");
    reports("request:\n- addHeaders: {Transfer-Encoding: chunked}\n", "2:16", "a policy can't change it");
    reports(
        "request:\n- removeHeaderSets: [intrnal]\nheaderSets:\n  internal: {names: [a]}\n",
        "2:22",
        "did you mean `internal`?",
    );
    reports("request:\n- removePrefixes: ['x int']\n", "2:20", "cannot begin the name of a header");
    reports("requestBody: {limit: 3 GB, rules: []}\n", "1:22", "a number of bytes");
    reports("request: {onError: ignore}\n", "1:20", "`noMatch`");
    reports("log:\n- deny: true\n", "2:3", "a rule of `log` has no key `deny`");
    reports("env: [CELERO_SURELY_NOT_SET]\n", "1:7", "CELERO_SURELY_NOT_SET");
    for (sections, place) in [("", "2:9"), ("env: [PATH]\n", "3:9")] {
        let rule = format!("{sections}request:\n- when: env.TOKEN == 'a'\n  deny: true\n");
        reports(&rule, place, "undeclared reference to `env.TOKEN`");
        reports(&rule, place, "= help: list it: `env: [TOKEN]`");
    }
    reports("request:\n- setHeaders: {x-a: '${env.TOKEN}'}\n", "2:24", "= help: list it: `env: [TOKEN]`");
    let look_around = "request:\n- when: request.path.matches('^/api/(?!internal)')\n  deny: true\n";
    reports(look_around, "2:37", "= help: test the rest by a second condition: `&& !x.matches(..)`");
    reports("variables: {a: env.TOKEN}\n", "1:16", "= help: list it: `env: [TOKEN]`");
    reports("request:\n- when: jwt.sub == 'a'\n  deny: true\n", "2:9", "add a section `jwt`");
}

#[test]
fn keys_of_other_tools_have_one_help() {
    let rule = |keys: &str| format!("request:\n- when: request.path == '/'\n  {keys}\n");
    for (keys, help) in [
        ("then: {deny: 403}", "= help: `deny` is a key of the rule itself: write it beside `when`"),
        ("then: [{block: 403}]", "= help: `deny` is a key of the rule itself: write it beside `when`"),
        ("then: deny", "= help: write `deny: true`"),
        ("action: block", "= help: write `deny: true`"),
        ("do: [allow]", "= help: write `allow: true`"),
        ("actions: none", "= help: what a rule does is a key of the rule itself, such as `deny: 403`"),
        ("if: request.method == 'GET'", "= help: a rule has one condition: join both in `when` with `&&`"),
        ("unless: request.method == 'GET'", "= help: write `when: '!(..)'`"),
    ] {
        reports(&rule(keys), "3:3", help);
    }
    for key in ["if", "cond", "condition", "match", "expression"] {
        reports(&format!("request:\n- {key}: request.path == '/'\n  deny: true\n"), "2:3", "did you mean `when`?");
    }
    reports("request:\n- if: request.path == '/'\n  then: {deny: 403}\n", "2:3", "did you mean `when`?");
    reports("rules:\n- deny: true\n", "1:1", "rules stand below the phase that they are for: `request: [..]`");
    reports("request:\n- redirect: /a\n  status: 301\n", "3:3", "`redirect: {to: .., status: 301}`");
    reports("request:\n- log: {a: b}\n  deny: true\n", "2:3", "write `logFields: {name: ..}`");
    reports("jwt: {jwksUrl: 'https://a.example/k'}\nrequest: [{deny: true}]", "1:7", "`keys: [{jwksUrl: ..}]`");
}

#[test]
fn names_of_lists_without_their_prefix_are_told() {
    let rule = |when: &str| {
        format!(
            "lists: {{blocked: {{kind: addresses, entries: [192.0.2.0/24]}}}}\nrequest:\n- when: '{when}'\n  deny: 403\n"
        )
    };
    for (when, help) in [
        ("source.address in blocked", "did you mean `lists.blocked`?"),
        ("source.address in $blocked", "did you mean `lists.blocked`?"),
        ("source.address in internal", "there are the lists `lists.blocked`"),
    ] {
        reports(&rule(when), "3:28", help);
    }
    reports(&rule("client.ip ~ blocked"), "3:20", "write `source.address in lists.blocked`");
    reports(
        "request:\n- when: source.address in internal\n  deny: 403\n",
        "2:27",
        "a named list is written `lists.internal`; none is declared",
    );
}

#[test]
fn names_of_other_phases_are_told_apart_from_unknown_ones() {
    reports(
        "request:\n- when: response.code == 200\n  deny: true\n",
        "2:9",
        "`response.code` exists in the phases `response`, `responseBody` and `log`, not in `request`",
    );
    reports(
        "response:\n- when: response.bytesSent > 1\n  deny: true\n",
        "2:9",
        "`response.bytesSent` exists in the phase `log`, not in `response`",
    );
    reports("request:\n- setHeaders: {x-a: '${json(request.body).a}'}\n", "2:29", "bodies are buffered for it");
    reports(
        "variables:\n  failed: response.code >= 500\nrequest:\n- when: variables.failed\n  deny: true\n",
        "4:9",
        "`variables.failed` exists in the phases `response`, `responseBody` and `log`",
    );
    reports(
        "functions:\n  'failed(n: int)': response.code >= n\nrequest:\n- when: failed(500)\n  deny: true\n",
        "4:9",
        "`failed` exists in the phases `response`, `responseBody` and `log`",
    );
    reports("request:\n- when: response.cde == 200\n  deny: true\n", "2:9", "not in `request`");
    reports("request:\n- when: respnse.code == 200\n  deny: true\n", "2:9", "undeclared reference to `respnse`");
}

#[test]
fn only_the_root_of_wrong_definitions_is_shown() {
    let error = wrong("variables:\n  a: variables.b || variables.c\n  b: nme\n  c: 'true'\n");
    assert_eq!(error.matches("error[").count(), 1, "{error}");
}

/// What a newcomer writes, and the advice.
#[test]
fn values_of_another_form_come_with_the_right_form() {
    reports("variables:\n  inside: [a, b]\n", "2:11", "put the expression in quotes, or in a block");
    reports("request:\n- deny: forbidden\n", "2:9", "the keys of an answer are `status`, `headers`, `body`");
    reports("request:\n- deny: \"403\"\n", "2:9", "remove the quotes");
    reports("include: p.yaml\n", "1:10", "write `[p.yaml]`");
    reports("request:\n- name: [a, b]\n  deny: true\n", "2:9", "put the text in quotes");
    let error = wrong("request:\n  name: a\n  when: request.path == '/a'\n  deny: 403\n");
    assert_eq!(error.matches("error[").count(), 1, "{error}");
    assert!(error.contains("`request` is a list, not a mapping"), "{error}");
    assert!(error.contains("each entry starts with `- `, as in `- name: ..`"), "{error}");
    let error =
        wrong("variables:\n  inside: [a, b]\nrequest:\n- when: request.path in variables.inside\n  deny: 403\n");
    assert_eq!(error.matches("error[").count(), 1, "{error}");
    let error = wrong("request:\n- if: request.path == '/a'\n  then: deny\n");
    let helps: Vec<&str> = error.lines().filter_map(|line| line.split_once("help: ")).map(|(_, help)| help).collect();
    assert_eq!(helps, ["did you mean `when`?", "write `deny: true`"], "{error}");
    let error = wrong("request:\n- name: a\n  wen: request.path == '/a'\n  xyz: 1\n  zyx: 1\n  deny: 403\n");
    assert_eq!(error.matches("its keys are").count(), 1, "{error}");
}

#[test]
fn keys_of_other_tools_are_understood() {
    for (key, meant) in [("if", "when"), ("condition", "when"), ("match", "when"), ("expr", "when"), ("block", "deny")]
    {
        let other = if meant == "when" { "deny: 403" } else { "when: request.path == '/a'" };
        // The rule has no condition because of its mistake: nothing follows from that.
        let error = wrong(&format!(
            "request:\n- {key}: request.path == '/a'\n  {other}\n- when: request.path == '/b'\n  deny: 403\n"
        ));
        assert!(error.contains(&format!("did you mean `{meant}`?")), "{error}");
        let counts = ["error[", "warning[", "its keys are"].map(|part| error.matches(part).count());
        assert_eq!(counts, [1, 0, 0], "{error}");
    }
    let error = wrong("request:\n- if: request.path == '/a'\n  when: request.path == '/a'\n  deny: 403\n");
    assert!(!error.contains("did you mean `when`?"), "{error}");
}

#[test]
fn text_that_yaml_reads_otherwise_comes_with_advice() {
    let when = |text: &str| format!("request:\n- name: a\n  when: {text}\n  deny: true\n");
    for (text, advice) in [
        ("'a' == request.path", "text that starts with `'` needs quotes around all of it"),
        ("\"a\" in request.headers", "text that starts with `\"` needs quotes around all of it"),
        ("[\"a\"].exists(x, x == request.path)", "text that starts with `[` needs quotes"),
        ("!request.path.startsWith('/a')", "text that starts with `!` needs quotes"),
        ("!(request.path == '/a')", "text that starts with `!` needs quotes"),
        ("@a", "text that starts with `@` needs quotes"),
        ("> 5", "text that starts with `>` needs quotes"),
        ("request.path == '/a: b'", "text that contains `: ` needs quotes, or a block"),
        ("'abc", "the closing quote is missing"),
    ] {
        reports(&when(text), "3:", advice);
    }
    reports("request:\n\t- deny: true\n", "2:", "indent with spaces: YAML does not allow tabs");
    reports("request:\n- setHeaders: {x-a: ${request.path}}\n", "2:", "text with `${..}`, `,` or `: ` needs quotes");
    reports("request:\n- setHeaders: {x-a: b\n", "3:1", "a `{` or `[` is never closed");
    reports("request:\n- name: a\n    deny: true\n", "3:", "compare the indentation with the line above");
    reports("request:\n- setHeaders: x-a: b\n", "2:", "a mapping needs braces");
    reports("request:\n -name: a\n", "2:2", "write a space after the `-` of an entry");
    reports("request:\n- name: a\n deny: true\n", "3:", "the keys of one entry start in one column");
}

#[test]
fn rules_of_one_name_are_a_warning() {
    let text = "request:\n- {name: a, when: 'request.path == \"/a\"', deny: 403}\n- {name: a, deny: 404}\nlog:\n- {name: a, count: a}\n";
    let policy = Policy::parse("policy.yaml", text, Path::new(".")).unwrap();
    let warnings = policy.render_warnings(false);
    assert_eq!(warnings.matches("warning[").count(), 1, "{warnings}");
    assert!(
        warnings.contains("policy.yaml:3:10") && warnings.contains("another rule of this phase is called `a`"),
        "{warnings}"
    );
}

#[test]
fn files_of_other_formats_are_recognised() {
    let cases = "- name: a\n  request: {uri: /}\n  expect: {status: 200}\n";
    reports(cases, "1:1", "`celero test POLICY.yaml policy.yaml` runs it");
    reports("- name: a\n  deny: true\n", "1:1", "write `request:` or another phase above the rules");
    let proxy = "listeners: []\npolicy: p.yaml\nupstreams: []\nroutes: []\n";
    reports(proxy, "1:1", "this is a configuration of celero-proxy, not a policy");
    let rules = "admin: request.path == '/admin'\nbots: request.host == 'b'\n";
    reports(rules, "1:1", "the name of a file of rules `name: expression` ends in `.rules`");
    for text in [cases, proxy, rules] {
        assert_eq!(wrong(text).matches("error[").count(), 1, "{text}");
    }
}

#[test]
fn files_without_an_end_are_not_read() {
    let folder = Folder::new("endless");
    let large = folder.path("large.yaml");
    std::fs::File::create(&large).unwrap().set_len((64 << 20) + 1).unwrap();
    for (file, why) in [
        ("/dev/zero", "it is not a regular file"),
        ("large.yaml", "it is larger than 64 MiB"),
        ("..", "it is not a regular file"),
    ] {
        let error = Policy::parse("policy.yaml", &format!("include: [{file}]\n"), &folder.path(""))
            .expect_err(file)
            .to_string();
        assert!(error.contains(&format!("can't be read: {why}")), "{error}");
    }
}

#[test]
fn expressions_above_the_bound_on_operations_are_refused() {
    let policy = |most: &str, when: &str| {
        format!("defaults: {{maxOperations: {most}}}\nrequest:\n- when: {when}\n  deny: true\n")
    };
    let parse = |text: &str| Policy::parse("policy.yaml", text, Path::new("/nowhere"));
    let (cheap, costly) = ("request.path == '/a'", "request.headers.exists(h, h == 'a') && true");
    assert!(parse(&policy("2", cheap)).is_ok() && parse(&policy("300", costly)).is_ok());
    reports(&policy("1", cheap), "3:9", "up to 2 operations");
    reports(&policy("100", costly), "3:9", "more than 100 (`operations`)");
    reports(&policy("100", costly), "3:9", "the limit is set by `maxOperations` in `defaults`");
    reports(&policy("0", cheap), "1:27", "from 1");
    // A policy can lower the limit of its host, and not raise it.
    let hosted = |hosts: u64, own: &str| {
        let loader = Policy::loader().max_operations(hosts);
        let parsed = loader.parse("policy.yaml", &policy(own, costly), Path::new("/nowhere"));
        parsed.err().map(|error| error.to_string())
    };
    assert_eq!(hosted(300, "301"), None);
    let raised = hosted(100, "300").expect("the host's limit counts");
    assert!(raised.contains("more than 100") && raised.contains("the limit is set by the host"), "{raised}");
    let lowered = hosted(300, "100").expect("the policy's limit counts");
    assert!(lowered.contains("more than 100") && lowered.contains("`maxOperations`"), "{lowered}");
    // Templates and bodies of definitions count where they are used.
    reports(
        "defaults: {maxOperations: 2}\nrequest:\n- setHeaders: {x-a: 'a ${request.path + request.host}'}\n",
        "3:26",
        "up to 3 operations",
    );
    reports(
        "defaults: {maxOperations: 3}\nvariables:\n  big: request.path.size() > 9\nrequest:\n- when: variables.big && request.path == '/'\n  deny: true\n",
        "5:9",
        "`operations`",
    );
}

#[test]
fn a_check_says_what_each_expression_costs() {
    let text = "\
functions:
  'any(list: list(string)) -> bool': \"list.exists(a, a == 'x')\"
request:
- {name: first, when: 'any(request.headers.map(h, h)) && request.path == request.host', deny: true}
- {name: second, limit: {key: '${request.path}', rate: 1/s, countWhen: response.code == 500}}
log:
- logFields: {a: 'a ${request.path} ${request.host}', b: c}
";
    let policy = Policy::check("policy.yaml", text, Path::new("/nowhere")).unwrap();
    let shown = |(file, of_file, cost): (&str, &str, &celero_policy::ExpressionCost)| {
        assert_eq!((file, of_file), ("policy.yaml", text));
        let [whole, part] = [cost.span, cost.part].map(|span| &text[span.start as usize..span.end as usize]);
        let part = if part == whole { String::new() } else { format!(" in {part}") };
        format!("{} {} {whole}: {}{part}", cost.phase.name(), cost.rule, cost.cost.most_for(cost.elements))
    };
    let costs: Vec<String> = policy.expression_costs().map(shown).collect();
    assert_eq!(
        costs,
        [
            "request first any(request.headers.map(h, h)) && request.path == request.host: 310 in any(request.headers.map(h, h))",
            "request second request.path: 1",
            "response second response.code == 500: 2",
            "log log #1 request.path: 1",
            "log log #1 request.host: 1",
        ]
    );
    assert_eq!(Policy::parse("policy.yaml", text, Path::new("/nowhere")).unwrap().expression_costs().count(), 0);
}
