//! How the server lives: changes, limits, its end, and hostile clients.

use super::client::{Client, language, position, uri};
use serde_json::{Value as Json, json};

#[test]
fn changes_are_followed() {
    let mut client = Client::new(&[]);
    let uri = uri("a.cel");
    assert!(client.open(&uri, "cel", "\"\u{1f600}\" == request.host").is_empty());
    let change = |range: Json, text: &str| json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [{ "range": range, "text": text }] });
    let at = |from: u32, to: u32| json!({ "start": { "line": 0, "character": from }, "end": { "line": 0, "character": to } });
    client.notify("textDocument/didChange", change(at(16, 20), "pth"));
    let found = client.diagnostics(&uri);
    assert_eq!((&found[0]["code"], &found[0]["range"]), (&json!("undeclared-name"), &at(16, 19)));
    client.notify("textDocument/didChange", change(at(0, 99), "true"));
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    assert!(client.diagnostics(&uri).is_empty());
}

#[test]
fn other_yaml_and_large_files_are_left_alone() {
    let mut client = Client::new(&[]);
    assert!(client.open(&uri("compose.yaml"), "yaml", "services:\n  web: {image: x}\n").is_empty());
    let large = format!("a: true\n{}", "# \u{1f600}\n".repeat(64 << 10));
    let found = client.open(&uri("large.rules"), "celero-rules", &large);
    assert!(found[0]["message"].as_str().unwrap().contains("larger than 262144 bytes"), "{found:?}");
    assert!(client.labels("large.rules", &format!("{large}b: |")).is_empty());
    let found = client.open(&uri("a.rules"), "celero-rules", "a: true\n\nnonsense == (\n");
    assert_eq!((&found[0]["code"], &found[0]["range"]["start"]["line"]), (&json!("invalid-file"), &json!(2)));
    let found = client.open(&uri("a.cel"), "cel", "# language: wire\ntrue");
    assert_eq!(found[0]["message"], "there is no language `wire`: expected `cel` or `filter`");
}

#[test]
fn the_life_cycle_is_that_of_the_protocol() {
    let mut client = Client::silent(&["--stdio"]);
    assert_eq!(client.request("textDocument/hover", json!({}))["error"]["code"], -32002);
    client.notify("exit", Json::Null);
    assert_eq!(client.server.wait().unwrap().code(), Some(1));
    let mut client = Client::new(&[]);
    assert_eq!(client.request("initialize", json!({}))["error"]["code"], -32600);
    assert_eq!(client.request("shutdown", Json::Null), Json::Null);
    assert_eq!(client.request("textDocument/hover", json!({}))["error"]["code"], -32600);
    client.notify("exit", Json::Null);
    assert_eq!(client.server.wait().unwrap().code(), Some(0));
    // The input ends without a word.
    let mut client = Client::new(&[]);
    drop(client.server.stdin.take());
    assert_eq!(client.server.wait().unwrap().code(), Some(1));
    assert_eq!(Client::new(&[]).end(), 0);
}

#[test]
fn hostile_messages_do_not_end_the_server() {
    let mut client = Client::new(&[]);
    for (bytes, code) in [
        ("Content-Length: 5\r\n\r\n{\"a\":".to_owned(), -32700),
        (format!("Content-Length: 100000\r\n\r\n{}", "[".repeat(100_000)), -32700),
        ("Content-Length: nine\r\n\r\n".to_owned(), -32600),
        ("Content-Length: 2\r\n\r\n[]".to_owned(), -32600),
        ("Content-Length: 4\r\n\r\nnull".to_owned(), -32600),
        (
            "Content-Length: 3\r\n\r\n\u{1f600}"
                .chars()
                .map(|c| if c == '\u{1f600}' { 'x' } else { c })
                .collect::<String>()
                + "yz",
            -32700,
        ),
    ] {
        client.write(bytes.as_bytes());
        let answer = client.read();
        assert_eq!(answer["error"]["code"], code, "{bytes:.80}: {answer}");
        assert_eq!(answer["id"], Json::Null);
    }
    for (method, params, code) in [
        ("celero/unknown", json!({}), -32601),
        ("textDocument/hover", json!({ "position": [] }), -32602),
        (
            "textDocument/hover",
            json!({ "textDocument": { "uri": "file:///no" }, "position": { "line": 0, "character": 0 } }),
            -32602,
        ),
        ("textDocument/completion", Json::Null, -32602),
    ] {
        assert_eq!(client.request(method, params)["error"]["code"], code, "{method}");
    }
    for (method, params) in [
        ("textDocument/didOpen", json!(7)),
        (
            "textDocument/didChange",
            json!({ "textDocument": { "uri": "file:///no", "version": 1 }, "contentChanges": [] }),
        ),
        ("$/cancelRequest", json!({ "id": 99 })),
        ("unknown", Json::Null),
    ] {
        client.notify(method, params);
    }
    // Deep nesting, open texts and odd characters, in every kind of file and every feature.
    let deep = "(".repeat(5_000);
    let lists = "[".repeat(5_000);
    let texts = [
        &*deep,
        &lists,
        "\"",
        "'''",
        "a.b.c.",
        "\u{0}|\r\r\n\u{feff}",
        "{{{{",
        "${${${",
        "- - - -",
        ":::",
        "x: [",
        "request:\n- when: ",
    ];
    for name in ["a.cel", "a.filter", "a.rules", "p.yaml"] {
        for text in texts
            .iter()
            .flat_map(|text| [(*text).to_owned(), format!("request: {text}"), format!("a: {text}\n \u{1f600}")])
        {
            let uri = uri(name);
            client.open(&uri, if name == "p.yaml" { "celero-policy" } else { language(name) }, &text);
            let last = position(&text, text.len());
            for method in ["hover", "completion", "signatureHelp", "definition"] {
                client.request(
                    &format!("textDocument/{method}"),
                    json!({ "textDocument": { "uri": uri }, "position": last }),
                );
            }
            for method in ["documentSymbol", "semanticTokens/full"] {
                client.request(&format!("textDocument/{method}"), json!({ "textDocument": { "uri": uri } }));
            }
            let whole = json!({ "start": { "line": 0, "character": 0 }, "end": last });
            let actions = client.request(
                "textDocument/codeAction",
                json!({ "textDocument": { "uri": uri }, "range": whole, "context": { "diagnostics": [] } }),
            );
            assert!(actions.is_array(), "{text:.40}: {actions}");
        }
    }
    assert_eq!(client.end(), 0);
}
