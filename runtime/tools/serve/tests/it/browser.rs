//! The page in Chromium, as somebody uses it. Left out where there is no `chromedriver`.
//!
//! `PICTURES=FOLDER` writes what the tests saw, as PNG in base64.

use crate::support::{folder, serve};
use crate::web_driver::Browser;
use celero_serve::{Files, RuleFiles};
use serde_json::json;

const RULE: &str = r#"request.path.startsWith("/admin") && request.headers["x-team"] != "ops""#;
const REQUEST: &str = "GET /admin/keys HTTP/1.1\nHost: shop.example\nX-Team: sales";

/// Opens a window on the page; `None` without a browser.
pub(crate) fn page(width: u32, height: u32, dark: bool) -> Option<Browser> {
    let browser = window(width, height, dark)?;
    browser.go(&format!("http://{}/", serve(Files::default())));
    browser.wait("document.querySelector('#verdict-value').textContent === 'true'");
    Some(browser)
}

/// Opens an empty window; `None` without a browser.
pub(crate) fn window(width: u32, height: u32, dark: bool) -> Option<Browser> {
    let browser = Browser::open(width, height, dark);
    if browser.is_none() {
        eprintln!("left out: no chromedriver starts a browser here");
    }
    browser
}

pub(crate) fn keep(browser: &Browser, name: &str) {
    if let Some(folder) = std::env::var_os("PICTURES") {
        std::fs::write(std::path::Path::new(&folder).join(format!("{name}.b64")), browser.picture()).unwrap();
    }
}

#[test]
fn somebody_types_a_rule_and_reads_the_verdict() {
    let Some(browser) = page(1360, 950, false) else { return };
    browser.fill("#input", REQUEST);
    browser.fill("#rule", RULE);
    browser.keys("#rule", "\u{e00c}");
    browser.wait("document.querySelector('#verdict').className === 'verdict true' && document.querySelectorAll('.part').length === 6");
    assert_eq!(
        browser.value("document.querySelector('#verdict-why').textContent"),
        "the rule matches: GET shop.example/admin/keys"
    );
    let values = browser.value("[...document.querySelectorAll('.part')].map((one) => one.textContent)");
    assert!(values.to_string().contains(r#"request.headers[\"x-team\"]\"sales\""#), "{values}");

    // A part that the pointer is on is marked in the rule.
    browser.hover("#view-why .part:nth-child(3) .text");
    let marked = "[...document.querySelectorAll('#rule-editor .lit')].map((one) => one.textContent).join('')";
    browser.wait(&format!("{marked} === 'request.path'"));
    let cost = "document.querySelector('#part-cost').textContent";
    assert_eq!(browser.value(cost), "Static cost: 1 operation, of request.path");

    // Machine code, and both directions of its links.
    browser.click("#tab-code");
    browser.wait("document.querySelectorAll('#view-code .row').length > 20");
    let row = "[...document.querySelectorAll('#view-code .row:not(.group)')].findIndex((one) => one.span && one.span[0] === 0 && one.span[1] === 33)";
    let number = browser.value(row).as_i64().unwrap();
    assert!(number >= 0, "no code of request.path.startsWith");
    browser.value(&format!("(document.querySelectorAll('#view-code .row:not(.group)')[{number}].id = 'found') && document.querySelector('#found').scrollIntoView({{block: 'center'}})"));
    browser.hover("#found .op");
    browser.wait(&format!("{marked} === 'request.path.startsWith(\"/admin\")'"));
    keep(&browser, "light");
    browser.value("scrollTo(0, 0)");
    let place = browser.value("(() => { const box = [...document.querySelectorAll('#rule-editor pre span')].find((one) => one.textContent === 'startsWith').getBoundingClientRect(); return [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)]; })()");
    browser.point(place[0].as_i64().unwrap(), place[1].as_i64().unwrap());
    browser.wait("document.querySelectorAll('#view-code .row.on').length > 0");
    assert_eq!(browser.value(cost), "Static cost: 2 operations, of request.path.startsWith(\"/admin\")");

    // The address holds the state.
    browser.wait("location.hash.startsWith('#s=')");
    let address = browser.value("location.href");
    browser.go("about:blank");
    browser.go(address.as_str().unwrap());
    browser.wait("document.querySelector('#verdict').className === 'verdict true'");
    assert_eq!(browser.value("document.querySelector('#rule').value"), RULE);
    for tab in ["graph", "clif", "tree", "cost"] {
        browser.click(&format!("#tab-{tab}"));
        browser.wait(&format!("document.querySelector('#view-{tab}').innerText.length > 100"));
    }
    browser.wait("document.querySelector('#view-cost').innerText.includes('interpreter')");
    for part in ["3 to 6 operations", "found by", "path starts with"] {
        browser.wait(&format!("document.querySelector('#view-cost').innerText.includes('{part}')"));
    }
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn mistakes_are_marked_and_names_completed() {
    let Some(browser) = page(1360, 950, true) else { return };
    browser.fill("#rule", "request.pth == \"/\"");
    browser.keys("#rule", "\u{e00c}");
    browser.wait("document.querySelectorAll('#diagnostics li').length === 1");
    assert_eq!(browser.value("document.querySelector('#rule-editor .wrong').textContent"), "pth");
    browser.fill("#rule", "request.pa");
    browser.wait("document.querySelector('#completions [aria-selected=true] .name')?.textContent === 'request.path'");
    keep(&browser, "dark");
    browser.keys("#rule", "\u{e007}.startsW");
    browser.wait("document.querySelector('#completions [aria-selected=true] .name')?.textContent === 'startsWith'");
    browser.keys("#rule", "\u{e007}");
    assert_eq!(browser.value("document.querySelector('#rule').value"), "request.path.startsWith()");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn markup_in_rules_and_requests_is_text() {
    let Some(browser) = page(1360, 950, false) else { return };
    let markup = "<img src=x onerror=window.broken=1><script>window.broken=1</script>";
    browser.fill("#rule", &format!("request.headers['x-a'] + '{markup}'"));
    browser.fill("#input", &format!("GET / HTTP/1.1\nX-A: {markup}"));
    browser.wait("document.querySelector('#verdict-value').textContent.includes('<script>')");
    for tab in ["why", "code", "graph", "clif", "tree", "cost"] {
        browser.click(&format!("#tab-{tab}"));
    }
    assert_eq!(
        browser.value("[window.broken ?? null, document.querySelectorAll('main img, main script').length]"),
        json!([null, 0])
    );
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn a_policy_and_a_rule_set_have_pages() {
    let folder = folder("browser");
    let (policy, rules) = (folder.join("policy.yaml"), folder.join("site.rules"));
    std::fs::write(&policy, "request:\n- name: admin\n  when: request.path.startsWith('/admin')\n  deny: 403\n")
        .unwrap();
    std::fs::write(&rules, "admin: request.path.startsWith('/admin')\nroot: request.path == '/'\n").unwrap();
    let Some(browser) = window(1360, 950, false) else { return };
    let rules = Some(RuleFiles { paths: vec![rules], format: None, language: None });
    let to = serve(Files { policy: Some(policy), rules, ..Files::default() });
    browser.go(&format!("http://{to}/#policy"));
    browser.wait("document.querySelector('#policy .verdict strong')?.textContent === '403 by rule admin'");
    browser.click("[data-page=rules]");
    browser.wait("document.querySelector('#rules').innerText.includes('1 match. All of them take')");
    browser.wait("document.querySelector('#rules').innerText.includes('the first 1') && document.querySelectorAll('#rules .bar').length === 2");
    keep(&browser, "rules");
    browser.click("#rules table a");
    browser.wait(
        "!document.querySelector('#play').hidden && document.querySelector('#rule').value.includes('request.path')",
    );
    browser.wait("document.querySelector('#verdict').className.startsWith('verdict ') && document.querySelectorAll('.part').length > 0");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn the_page_fits_a_phone_and_works_by_keyboard() {
    let Some(browser) = page(390, 844, false) else { return };
    assert_eq!(browser.value("innerWidth"), 390);
    assert_eq!(browser.value("document.documentElement.scrollWidth <= innerWidth"), true, "the page scrolls sideways");
    keep(&browser, "phone");
    browser.keys("#rule", "\u{e00a}2");
    browser.keys("#view-code", "\u{e00a}");
    browser.wait("document.querySelector('#tab-code').getAttribute('aria-selected') === 'true'");
    browser.keys("#view-code", "\u{e015}\u{e015}");
    browser.wait("document.querySelectorAll('#rule-editor .lit').length > 0");
    let unnamed = "[...document.querySelectorAll('button, input, select, textarea, [role=tabpanel]')].filter((one) => !one.hidden && !one.labels?.length && !one.getAttribute('aria-label') && !one.getAttribute('aria-labelledby') && !one.textContent.trim()).length";
    assert_eq!(browser.value(unnamed), 0);
    assert_eq!(browser.errors(), Vec::<String>::new());
}
