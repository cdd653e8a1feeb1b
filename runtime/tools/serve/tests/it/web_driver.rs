//! A browser, through the W3C WebDriver protocol, which is JSON over HTTP: the client of the other tests suffices.

use crate::support::{Answer, request};
use serde_json::{Value as Json, json};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The name under which the protocol returns an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A window of a browser. Closed on drop.
pub(crate) struct Browser {
    driver: Child,
    address: SocketAddr,
    session: String,
}

impl Browser {
    /// Opens a window of this size; `None` if there is no `chromedriver` that starts a browser.
    pub(crate) fn open(width: u32, height: u32, dark: bool) -> Option<Self> {
        let mut driver =
            Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
        let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        // A line before that repeats the port that was asked for.
        let port = lines.map_while(Result::ok).find_map(|line| {
            let (_, port) = line.split_once("was started successfully on port ")?;
            port.trim_end_matches('.').parse::<u16>().ok()
        });
        let Some(port) = port else {
            let _ = driver.kill();
            let _ = driver.wait();
            return None;
        };
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut arguments =
            vec!["--headless=new".to_owned(), "--no-sandbox".to_owned(), format!("--window-size={width},{height}")];
        if dark {
            arguments.push("--force-dark-mode".to_owned());
        }
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": {
                "args": arguments,
                "mobileEmulation": (width < 500).then(|| json!({ "deviceMetrics": { "width": width, "height": height, "pixelRatio": 1.0 } })),
            },
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let mut browser = Self { driver, address, session: String::new() };
        let answer = request("POST", address, "/session", &without_nulls(capabilities).to_string());
        browser.session = answer.json()["value"]["sessionId"].as_str()?.to_owned();
        let scheme = json!({ "name": "prefers-color-scheme", "value": if dark { "dark" } else { "light" } });
        browser.devtools("Emulation.setEmulatedMedia", &json!({ "features": [scheme] }));
        Some(browser)
    }

    /// Sends a command of Chromium's own protocol.
    pub(crate) fn devtools(&self, command: &str, parameters: &Json) {
        self.send("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }));
    }

    fn path(&self, path: &str) -> String {
        format!("/session/{}/{path}", self.session)
    }

    fn send(&self, path: &str, body: &Json) -> Json {
        let answer: Answer = request("POST", self.address, &self.path(path), &body.to_string());
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()["value"].clone()
    }

    pub(crate) fn go(&self, url: &str) {
        self.send("url", &json!({ "url": url }));
    }

    /// Returns the value of an expression in the page.
    pub(crate) fn value(&self, expression: &str) -> Json {
        self.send("execute/sync", &json!({ "script": format!("return {expression};"), "args": [] }))
    }

    /// Returns what a function in the page returns for these arguments.
    pub(crate) fn call(&self, function: &str, arguments: &Json) -> Json {
        let script = format!("const done = arguments[1]; ({function})(arguments[0]).then(done);");
        self.send("execute/async", &json!({ "script": script, "args": [arguments] }))
    }

    /// Waits until an expression in the page is true.
    pub(crate) fn wait(&self, expression: &str) {
        let start = Instant::now();
        while self.value(expression) != json!(true) {
            assert!(
                start.elapsed() < Duration::from_secs(120),
                "{expression} stays false: {}",
                self.value("document.body.innerText")
            );
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    fn element(&self, selector: &str) -> String {
        let found = self.send("element", &json!({ "using": "css selector", "value": selector }));
        found[ELEMENT].as_str().unwrap().to_owned()
    }

    pub(crate) fn click(&self, selector: &str) {
        self.send(&format!("element/{}/click", self.element(selector)), &json!({}));
    }

    /// Replaces the text of an input as somebody who types.
    pub(crate) fn fill(&self, selector: &str, text: &str) {
        self.send(&format!("element/{}/clear", self.element(selector)), &json!({}));
        self.keys(selector, text);
    }

    pub(crate) fn keys(&self, selector: &str, text: &str) {
        self.send(&format!("element/{}/value", self.element(selector)), &json!({ "text": text }));
    }

    /// Moves the pointer to the middle of an element.
    pub(crate) fn hover(&self, selector: &str) {
        let origin = json!({ ELEMENT: self.element(selector) });
        self.send(
            "actions",
            &json!({ "actions": [{ "type": "pointer", "id": "mouse", "actions": [
            { "type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": origin }
        ] }] }),
        );
    }

    /// Moves the pointer to a place of the window.
    pub(crate) fn point(&self, x: i64, y: i64) {
        self.send(
            "actions",
            &json!({ "actions": [{ "type": "pointer", "id": "mouse", "actions": [
            { "type": "pointerMove", "duration": 0, "x": x, "y": y, "origin": "viewport" }
        ] }] }),
        );
    }

    /// Returns what the page wrote to the console as errors: of scripts, and of what the policy of content refused.
    pub(crate) fn errors(&self) -> Vec<String> {
        let all = self.send("se/log", &json!({ "type": "browser" }));
        let all = all.as_array().cloned().unwrap_or_default();
        let severe = all.iter().filter(|one| one["level"] == "SEVERE");
        severe.map(|one| one["message"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Returns a picture of the window: PNG in base64.
    pub(crate) fn picture(&self) -> String {
        let answer = request("GET", self.address, &self.path("screenshot"), "");
        answer.json()["value"].as_str().unwrap().to_owned()
    }
}

/// A capability that is null is refused.
fn without_nulls(json: Json) -> Json {
    match json {
        Json::Object(members) => members
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        other => other,
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let _ = request("DELETE", self.address, &format!("/session/{}", self.session), "");
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
