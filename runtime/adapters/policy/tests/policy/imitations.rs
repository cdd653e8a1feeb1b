//! Names of headers that a client may not imitate, because some servers read `x_role` as `x-role`.

use crate::support::{ask, exchange, head, policy, status};

fn answers(text: &str) -> impl Fn(&str) -> u16 + use<> {
    let policy = policy(text);
    move |name| status(ask(&policy, &head("GET /", &[(name, "admin")]), &mut exchange()))
}

#[test]
fn headers_that_rules_read_are_not_imitated() {
    for text in [
        "request: [{when: 'request.headers[\"x-role\"] == \"guest\"', deny: 403}]\n",
        "request: [{when: 'request.headers[?\"X-Role\"].orValue(\"\") == \"guest\"', deny: 403}]\n",
        "request: [{when: '\"x-role\" in request.headers && false', deny: 403}]\n",
        "request: [{when: '\"guest\" in request.headers.split()[\"x-role\"]', deny: 403}]\n",
        "request: [{setHeaders: {x-a: \"${request.headers[?'x-role'].orValue('')}\"}}]\n",
        "variables: {role: 'request.headers[\"x-role\"]'}\nrequest: [{when: variables.role == 'guest', deny: true}]\n",
        "functions: {'is(r: string) -> bool': 'request.headers[\"x-role\"] == r'}\nrequestBody: [{when: is('guest'), deny: true}]\n",
        "response: [{when: 'request.headers[\"x-role\"] == \"guest\"', setHeaders: {a: b}}]\n",
    ] {
        let answer = answers(text);
        assert_eq!(["x_role", "x.role", "X_Role"].map(&answer), [400; 3], "{text}");
        assert_eq!(["x-role", "x_other"].map(&answer).map(|status| status == 400), [false; 2], "{text}");
        let keeping = answers(&format!("normalize: {{underscores: keep}}\n{text}"));
        assert_ne!(keeping("x_role"), 400, "{text}");
    }
}

#[test]
fn names_that_rules_write_are_accepted() {
    let odd = answers("request:\n- when: request.headers[?'x_role'].orValue('') == 'guest'\n  deny: 403\n");
    assert_eq!(["x_role", "x-role", "x.role"].map(odd), [0, 400, 400]);
    let both = answers("request:\n- when: request.headers[?'x-role'].orValue('') == 'a'\n  removeHeaders: [x_role]\n");
    assert_eq!(["x_role", "x-role", "x.role"].map(both), [0, 0, 400]);
    let logged = answers("log: [{logFields: {role: \"${request.headers['x-role']}\"}}]\n");
    assert_eq!(logged("x_role"), 0);
}
