//! A client of the language server.

use crate::support::command;
use serde_json::{Value as Json, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout};

/// A client of a server.
pub(super) struct Client {
    pub(super) server: Child,
    output: BufReader<ChildStdout>,
    requests: i64,
}

impl Client {
    /// Starts a server without a word.
    pub(super) fn silent(args: &[&str]) -> Self {
        let all: Vec<&str> = ["lsp"].iter().chain(args).copied().collect();
        let mut server = command(&all).spawn().unwrap();
        let output = BufReader::new(server.stdout.take().unwrap());
        Self { server, output, requests: 0 }
    }

    pub(super) fn new(args: &[&str]) -> Self {
        let mut client = Self::silent(args);
        let answer = client.request("initialize", json!({ "capabilities": {} }));
        assert_eq!(answer["serverInfo"]["name"], "celero");
        client.notify("initialized", json!({}));
        client
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        self.server.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(super) fn send(&mut self, message: &Json) {
        let text = message.to_string();
        self.write(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    pub(super) fn read(&mut self) -> Json {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let length: usize = line.trim().strip_prefix("Content-Length: ").unwrap().parse().unwrap();
        line.clear();
        self.output.read_line(&mut line).unwrap();
        let mut text = vec![0; length];
        self.output.read_exact(&mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    pub(super) fn notify(&mut self, method: &str, params: Json) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Returns the answer: the result, or `{"error": ..}`.
    pub(super) fn request(&mut self, method: &str, params: Json) -> Json {
        self.requests += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.requests, "method": method, "params": params }));
        loop {
            let answer = self.read();
            if answer["id"] == self.requests {
                return if answer["error"].is_null() { answer["result"].clone() } else { answer };
            }
        }
    }

    /// Opens a document and returns its diagnostics.
    pub(super) fn open(&mut self, uri: &str, language: &str, text: &str) -> Vec<Json> {
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        self.diagnostics(uri)
    }

    pub(super) fn diagnostics(&mut self, uri: &str) -> Vec<Json> {
        loop {
            let message = self.read();
            if message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == uri {
                return message["params"]["diagnostics"].as_array().unwrap().clone();
            }
        }
    }

    /// Opens a text whose `|` is the cursor, and asks about the place.
    pub(super) fn at(&mut self, method: &str, name: &str, marked: &str) -> Json {
        let at = marked.find('|').unwrap();
        let text = format!("{}{}", &marked[..at], &marked[at + 1..]);
        let uri = uri(name);
        self.open(&uri, language(name), &text);
        self.request(
            &format!("textDocument/{method}"),
            json!({ "textDocument": { "uri": uri }, "position": position(&text, at) }),
        )
    }

    pub(super) fn labels(&mut self, name: &str, marked: &str) -> Vec<String> {
        let items = self.at("completion", name, marked);
        items.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
    }

    pub(super) fn hover(&mut self, name: &str, marked: &str) -> String {
        self.at("hover", name, marked)["contents"]["value"].as_str().unwrap_or("nothing").to_owned()
    }

    pub(super) fn format(&mut self, name: &str, text: &str) -> String {
        let uri = uri(name);
        self.open(&uri, language(name), text);
        let options = json!({ "tabSize": 2, "insertSpaces": true });
        let edits =
            self.request("textDocument/formatting", json!({ "textDocument": { "uri": uri }, "options": options }));
        edited(text, &edits)
    }

    pub(super) fn end(mut self) -> i32 {
        assert_eq!(self.request("shutdown", Json::Null), Json::Null);
        self.notify("exit", Json::Null);
        self.server.wait().unwrap().code().unwrap()
    }
}

pub(super) fn uri(name: &str) -> String {
    format!("file:///celero-test/{name}")
}

pub(super) fn language(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("filter") => "celero-filter",
        Some("rules") => "celero-rules",
        Some("yaml") => "yaml",
        _ => "cel",
    }
}

/// The position of a byte offset, computed in another way than the server does.
pub(super) fn position(text: &str, at: usize) -> Json {
    let before = &text[..at];
    let line = before.matches('\n').count();
    let last = before.rsplit('\n').next().unwrap();
    json!({ "line": line, "character": last.encode_utf16().count() })
}

/// The byte offset of a position.
pub(super) fn offset(text: &str, position: &Json) -> usize {
    let is_it = |at: &usize| text.is_char_boundary(*at) && self::position(text, *at) == *position;
    (0..=text.len()).find(is_it).unwrap_or_else(|| panic!("{position} is not in {text:?}"))
}

pub(super) fn edited(text: &str, edits: &Json) -> String {
    let mut edited = text.to_owned();
    for edit in edits.as_array().unwrap_or_else(|| panic!("{edits}")).iter().rev() {
        let range = offset(text, &edit["range"]["start"])..offset(text, &edit["range"]["end"]);
        edited.replace_range(range, edit["newText"].as_str().unwrap());
    }
    edited
}
