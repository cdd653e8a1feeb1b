//! The pages of a policy and of a rule set in Chromium: rules at the left, edits in memory, recorded requests, links.
//! Left out where there is no `chromedriver`.

use crate::browser::{keep, window};
use crate::support::{folder, serve};
use crate::web_driver::Browser;
use celero_serve::{Files, RuleFiles};
use serde_json::json;
use std::net::SocketAddr;

const POLICY: &str = r#"# Who may come in.
request:
- name: admin
  # The office only.
  when: request.path.startsWith("/admin") && request.headers[?"x-team"].orValue("") != "ops"
  deny: {status: 403, body: "not for ${request.method}"}
- {name: trace, when: 'http.request.method eq "TRACE"', language: filter, deny: 405}
- name: mark
  setHeaders: {x-proxy: celero}
response:
- name: hide
  removeHeaders: [server]
"#;
const CASES: &str = "- name: closed\n  request: {uri: /admin}\n  expect: {status: 403, rule: admin}\n";
const RECORDED: &str = "GET /admin HTTP/1.1\nHost: shop.example\n\n###\nGET /user HTTP/1.1\nHost: shop.example\n";

/// Starts a server with a policy, cases, recorded requests and a rule set with many rules.
fn served(name: &str) -> SocketAddr {
    let folder = folder(name);
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let many: String =
        (0..300).map(|number| format!("rule{number}: request.path.startsWith('/v{number}/')\n")).collect();
    let rules =
        format!("# The site.\n{many}admin [tag deny]: request.path.startsWith('/admin')\nroot: request.path == '/'\n");
    serve(Files {
        policy: Some(write("policy.yaml", POLICY)),
        cases: vec![write("cases.yaml", CASES)],
        requests: Some(write("recorded.http", RECORDED)),
        rules: Some(RuleFiles { paths: vec![write("site.rules", &rules)], format: None, language: None }),
        ..Files::default()
    })
}

/// Replaces the source in the page, and tells it.
fn edit(browser: &Browser, page: &str, text: &str) {
    let text = json!(text);
    browser.value(&format!(
        "(() => {{ const source = document.querySelector('#{page} .source-card textarea'); source.value = {text}; source.dispatchEvent(new Event('input')); return 1; }})()"
    ));
}

fn request(browser: &Browser, page: &str, text: &str) {
    let text = json!(text);
    browser.value(&format!(
        "(() => {{ const input = document.querySelector('#{page} textarea[aria-label=Request]'); input.value = {text}; input.dispatchEvent(new Event('input')); return 1; }})()"
    ));
}

/// An expression: the texts of all elements.
fn texts(selector: &str) -> String {
    format!("[...document.querySelectorAll('{selector}')].map((one) => one.textContent)")
}

#[test]
fn a_policy_is_edited_and_tried() {
    let Some(browser) = window(1500, 1000, false) else { return };
    let to = served("workbench-policy");
    browser.go(&format!("http://{to}/#policy"));
    request(&browser, "policy", "GET /admin/x HTTP/1.1\nHost: shop.example\n");
    browser.wait("document.querySelector('#policy .verdict strong')?.textContent === '403 by rule admin'");
    assert_eq!(browser.value(&texts("#policy .rule .name")), json!(["admin", "trace", "mark", "hide"]));
    assert_eq!(browser.value(&texts("#policy .rule-list .phase")), json!(["request", "response"]));
    // The deciding rule is marked in the list and in the source, and explained.
    browser.wait("document.querySelector('#policy .rule.decides .name')?.textContent === 'admin'");
    let decides =
        "[...document.querySelectorAll('#policy .source-card .decides')].map((one) => one.textContent).join('')";
    let marked = browser.value(decides);
    assert!(
        marked.as_str().unwrap().contains("startsWith(\"/admin\")") && !marked.as_str().unwrap().contains("trace"),
        "{marked}"
    );
    browser.wait("document.querySelector('#policy .reasons').innerText.includes('request.path is \\\"/admin/x\\\"')");
    let reasons = browser.value("document.querySelector('#policy .reasons').innerText");
    assert!(!reasons.as_str().unwrap().contains('`'), "{reasons}");
    // Colours.
    for (class, text) in
        [("t-key", "name"), ("t-comment", "# Who may come in."), ("t-call", "startsWith"), ("t-word", "eq")]
    {
        let found = browser.value(&texts(&format!("#policy .source-card .{class}")));
        assert!(found.as_array().unwrap().contains(&json!(text)), "{class}: {found}");
    }
    // A click on a rule shows its place, and why it does not match.
    browser.value(
        "[...document.querySelectorAll('#policy .rule')].find((one) => one.textContent.startsWith('trace')).click()",
    );
    let cursor = "(() => { const source = document.querySelector('#policy .source-card textarea'); return source.value.slice(source.selectionStart).slice(0, 5); })()";
    assert_eq!(browser.value(cursor), "trace");
    browser.wait("document.querySelector('#policy .outcome').innerText.includes('trace matches, but admin ends the phase before it') || document.querySelector('#policy .outcome').innerText.includes('trace does not match')");
    keep(&browser, "policy");

    // Recorded requests and cases, and what an edit changes.
    browser.wait("document.querySelectorAll('#policy .recorded tbody tr').length === 2");
    assert_eq!(browser.value("document.querySelectorAll('#policy .recorded .changed').length"), 0);
    edit(&browser, "policy", &POLICY.replace("\"/admin\"", "\"/user\""));
    browser.wait("document.querySelectorAll('#policy .recorded .changed').length === 2");
    let rows = browser.value(&texts("#policy .recorded tbody tr")).to_string();
    assert!(
        rows.contains("to the serverchanged was 403 by admin") && rows.contains("403adminchanged was to the server"),
        "{rows}"
    );
    browser.wait("document.querySelector('#policy .details').innerText.includes('changed by the edit')");
    browser.wait("document.querySelector('#policy .verdict strong').textContent === 'the request reaches the server'");

    // What is wrong is marked, and the last good answer stays.
    edit(&browser, "policy", &POLICY.replace("\"/admin\"", "\"/user\"").replace("deny: 405", "dney: 405"));
    browser.wait("document.querySelector('#policy .source-card .wrong')?.textContent.includes('dney')");
    let wrong = browser.value("document.querySelector('#policy .diagnostics').innerText");
    assert!(wrong.as_str().unwrap().contains("dney") && !wrong.as_str().unwrap().contains('`'), "{wrong}");
    assert_eq!(browser.value("document.querySelector('#policy .diagnostics code').textContent"), "dney");
    assert_eq!(browser.value("document.querySelector('#policy .stale-note').hidden"), false);
    assert_eq!(
        browser.value("document.querySelector('#policy .verdict strong').textContent"),
        "the request reaches the server"
    );
    keep(&browser, "policy-wrong");

    // Back to the file, which was not written.
    browser.value(
        "[...document.querySelectorAll('#policy button')].find((one) => one.textContent.startsWith('Back')).click()",
    );
    browser.wait("document.querySelector('#policy .verdict strong').textContent === '403 by rule admin'");
    assert_eq!(browser.value("document.querySelector('#policy .source-card textarea').value"), POLICY);
    assert_eq!(browser.value("document.querySelector('#policy .stale-note').hidden"), true);
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn a_large_rule_set_is_listed_and_edited() {
    let Some(browser) = window(1500, 1000, true) else { return };
    let to = served("workbench-rules");
    browser.go(&format!("http://{to}/#rules"));
    browser.wait("document.querySelectorAll('#rules .rule').length === 302");
    request(&browser, "rules", "GET /admin HTTP/1.1\nHost: a\n");
    browser.wait("document.querySelector('#rules .verdict strong')?.textContent === 'admin matches first'");
    assert_eq!(browser.value("document.querySelector('#rules .source-card .decides').textContent"), "admin ");
    browser.wait("document.querySelector('#rules .reasons').innerText.includes('request.path is \\\"/admin\\\"')");
    // Its place is seen in the source, and the page itself does not scroll.
    browser.wait("document.querySelector('#rules .editor.scrolled').scrollTop > 1000");
    assert_eq!(browser.value("scrollY"), 0);
    keep(&browser, "rules-large");
    // The box filters, and a click shows the rule's place.
    browser.fill("#rules .filter", "rule29");
    browser.wait("document.querySelectorAll('#rules .rule').length === 11");
    browser.click("#rules .rule");
    browser.wait("document.querySelector('#rules .outcome').innerText.includes('rule29 does not match')");
    let line = "(() => { const source = document.querySelector('#rules .source-card textarea'); return source.value.slice(source.selectionStart).split(':')[0]; })()";
    assert_eq!(browser.value(line), "rule29");
    assert!(browser.value("document.querySelector('#rules .editor.scrolled').scrollTop").as_f64().unwrap() > 100.0);
    edit(&browser, "rules", "first: request.path.contains('min')\nadmin: request.path.startsWith('/admin')\n");
    browser.wait("document.querySelector('#rules .verdict strong').textContent === 'first matches first'");
    browser.wait("document.querySelectorAll('#rules .recorded .changed').length === 1");
    edit(&browser, "rules", "first: request.path.contains('min')\nno rule\n");
    browser.wait("document.querySelector('#rules .source-card .wrong')?.textContent === 'no rule'");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn a_link_holds_everything() {
    let Some(browser) = window(1500, 1000, false) else { return };
    let to = served("workbench-link");
    browser.go(&format!("http://{to}/#policy"));
    browser.wait("document.querySelector('#policy .verdict') !== null");
    let markup = "<img src=x onerror=window.broken=1><script>window.broken=1</script>";
    let changed = POLICY.replace("Who may", &format!("{markup} who may")).replace("not for ", &format!("{markup} "));
    edit(&browser, "policy", &changed);
    request(&browser, "policy", &format!("GET /admin/linked HTTP/1.1\nHost: shop.example\nX-A: {markup}\n"));
    browser.value("(() => { const area = document.querySelector('#policy textarea[aria-label=\"Recorded requests\"]'); area.value = '{\"uri\": \"/admin/<b>\"}\\n{\"uri\": \"/admin/kept\"}'; area.dispatchEvent(new Event('input')); return 1; })()");
    browser.value(
        "[...document.querySelectorAll('#policy button')].find((one) => one.textContent === 'Copy link').click()",
    );
    browser.wait("location.hash.startsWith('#z=')");
    let fragment = browser.value("location.hash").as_str().unwrap().to_owned();

    // A server without files shows the same.
    let other = serve(Files::default());
    browser.go(&format!("http://{other}/{fragment}"));
    browser.wait("document.querySelector('#policy .verdict strong')?.textContent === '403 by rule admin'");
    assert_eq!(browser.value("document.querySelector('#policy .source-card textarea').value"), changed);
    assert!(
        browser
            .value("document.querySelector('#policy textarea[aria-label=Request]').value")
            .as_str()
            .unwrap()
            .contains("/admin/linked")
    );
    browser.wait("document.querySelector('#policy .recorded')?.innerText.includes('/admin/kept')");
    browser.wait("document.querySelector('#policy .details').innerText.includes('all 1 passed')");
    assert_eq!(
        browser.value("[window.broken ?? null, document.querySelectorAll('main img, main script').length]"),
        json!([null, 0])
    );
    // A server with other files offers to go back to them.
    browser.go("about:blank");
    browser.go(&format!("http://{to}/{fragment}"));
    browser.wait("document.querySelector('#policy .verdict strong')?.textContent === '403 by rule admin'");
    browser.wait("[...document.querySelectorAll('#policy button')].some((one) => one.textContent.startsWith('Back') && !one.hidden)");
    assert_eq!(browser.errors(), Vec::<String>::new());

    // What is broken or too long is said.
    for (fragment, why) in [
        (fragment[..fragment.len() - 9].to_owned(), "This link is broken"),
        ("#z=%3Cscript%3E".to_owned(), "This link is broken"),
        ("#u=bnVsbA".to_owned(), "This link holds nothing that this page shows"),
        ("#u=eyJwYWdlIjoicG9saWN5IiwiZmlsZXMiOlt7Im5hbWUiOjEsInRleHQiOltdfV19".to_owned(), "This link holds nothing"),
        (format!("#z={}", "a".repeat(70_000)), "the most is 65536"),
    ] {
        browser.go("about:blank");
        browser.go(&format!("http://{other}/{fragment}"));
        browser.wait(&format!("document.querySelector('#link-problem').textContent.includes('{why}')"));
        browser.wait("!document.querySelector('#play').hidden");
    }
    // A link that unpacks to very much is not opened.
    let bomb = "(async () => { const zeros = new Blob([new Uint8Array(32 << 20)]).stream().pipeThrough(new CompressionStream('deflate-raw')); const bytes = new Uint8Array(await new Response(zeros).arrayBuffer()); let text = ''; for (const byte of bytes) text += String.fromCharCode(byte); return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''); })";
    let bomb = browser.call(bomb, &json!({}));
    browser.go("about:blank");
    browser.go(&format!("http://{other}/#z={}", bomb.as_str().unwrap()));
    browser.wait("document.querySelector('#link-problem').textContent.includes('more than 1048576 bytes')");

    // A text that no link can hold says so.
    browser.go("about:blank");
    browser.go(&format!("http://{to}/#policy"));
    browser.wait("document.querySelector('#policy .verdict') !== null");
    let random = "Array.from(crypto.getRandomValues(new Uint8Array(60000)), (byte) => byte.toString(36)).join('')";
    browser.value(&format!("(() => {{ const source = document.querySelector('#policy .source-card textarea'); source.value += '# ' + {random}; source.dispatchEvent(new Event('input')); return 1; }})()"));
    browser.value(
        "[...document.querySelectorAll('#policy button')].find((one) => one.textContent === 'Copy link').click()",
    );
    browser.wait("[...document.querySelectorAll('#policy .problem')].some((one) => !one.hidden && one.textContent.includes('The link would have'))");
}

#[test]
fn the_pages_fit_a_phone_and_name_their_controls() {
    let Some(browser) = window(390, 844, false) else { return };
    let to = served("workbench-phone");
    for page in ["policy", "rules"] {
        browser.go(&format!("http://{to}/#{page}"));
        browser.wait(&format!("document.querySelector('#{page} .recorded tbody tr') !== null"));
        assert_eq!(
            browser.value("document.documentElement.scrollWidth <= innerWidth"),
            true,
            "{page} scrolls sideways"
        );
        let unnamed = format!(
            "[...document.querySelectorAll('#{page} button, #{page} input, #{page} select, #{page} textarea')].filter((one) => !one.hidden && !one.labels?.length && !one.getAttribute('aria-label') && !one.textContent.trim()).length"
        );
        assert_eq!(browser.value(&unnamed), 0, "{page}");
        keep(&browser, &format!("{page}-phone"));
    }
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn sources_have_colours_and_decisions_differences() {
    let Some(browser) = window(800, 600, false) else { return };
    browser.go(&format!("http://{}/", serve(Files::default())));
    browser.wait("document.querySelector('#verdict-value').textContent === 'true'");
    // Each text with its kind, and what some of its tokens are.
    for (text, kind, tokens) in [
        (
            "a: [x] # c\nvariables:\n  q: f(1) # d\n",
            "policy",
            &[("a", "t-key"), ("# c", "t-comment"), ("f", "t-call"), ("1", "t-number"), ("# d", "t-comment")][..],
        ),
        (
            "r:\n- when: |\n    a == \"#\"\n  deny: {status: 403, body: 'b ${g(c)}'}\n- {when: 'x eq \"y\"', language: filter}\n",
            "policy",
            &[("\"#\"", "t-string"), ("deny", "t-key"), ("403", "t-number"), ("g", "t-call"), ("eq", "t-word")],
        ),
        (
            "# c\na [tag x]: b in [1] // d\n  # e\n  && true\nf [language filter]: x eq \"y\"\n",
            "rules",
            &[
                ("# c", "t-comment"),
                ("in", "t-word"),
                ("// d", "t-comment"),
                ("  # e", "t-comment"),
                ("true", "t-word"),
                ("eq", "t-word"),
            ],
        ),
        ("# it's\na == 'b'", "expression", &[("# it's", "t-comment"), ("'b'", "t-string")]),
    ] {
        let script = "async ([text, kind]) => { const { sourceTokens } = await import('/source_tokens.js'); return sourceTokens(text, kind, 'cel').map(([start, end, name]) => [text.slice(start, end), name]); }";
        let found = browser.call(script, &json!([text, kind]));
        for token in tokens {
            assert!(found.as_array().unwrap().contains(&json!([token.0, token.1])), "{token:?} of {text}: {found}");
        }
    }
    // Texts that are made to take long do not.
    let long =
        ["\"", "'''", "{a: 1, ", ": ", "- ", " ", "${", "[", "a ", "\\"].map(|part| part.repeat(131_000 / part.len()));
    let script = "async (texts) => { const { sourceTokens } = await import('/source_tokens.js'); let most = 0; for (const text of texts) for (const kind of ['policy', 'rules', 'expression']) { const start = performance.now(); sourceTokens(text, kind, 'cel'); most = Math.max(most, performance.now() - start); } return most; }";
    let most = browser.call(script, &json!(long)).as_f64().unwrap();
    assert!(most < 5_000.0, "{most} ms");
    let script = "async ([now, before]) => { const { differences, policyDecision } = await import('/decisions.js'); return differences(now, before, policyDecision); }";
    let one = |request: &str, status: u16, edits: u8| {
        let answer = (status != 200).then(|| json!({ "status": status, "rule": "a" }));
        json!({ "request": request, "decision": { "answer": answer, "edits": edits } })
    };
    let now = json!([one("a", 403, 0), one("b", 200, 0), one("c", 200, 1), one("d", 403, 0), one("e", 403, 0)]);
    let before = json!([one("a", 404, 0), one("b", 200, 0), one("c", 200, 0), one("x", 200, 0)]);
    assert_eq!(browser.call(script, &json!([now, before])), json!(["decision", "", "details", "", ""]));
    assert_eq!(browser.errors(), Vec::<String>::new());
}
