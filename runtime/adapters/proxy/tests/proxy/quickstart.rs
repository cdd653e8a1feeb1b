//! `docs/quickstart.md` as a reader follows it: one shell in one folder, with the real programs.

#[path = "../../../../../tests/book/src/console.rs"]
#[expect(unreachable_pub, reason = "shared with the tests of other pages")]
mod console;
#[path = "../../../../../tests/book/src/markdown.rs"]
#[expect(unreachable_pub, reason = "shared with the tests of other pages")]
pub(crate) mod markdown;

use crate::running::{Folder, free_port, say, workspace};
use console::{commands, lines, shows};
use std::fmt::Write as _;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The ports on the page, which others may use here.
const PORTS: [&str; 4] = ["8443", "9180", "9097", "4318"];
/// Before each command, and after it with its status.
const MARK: &str = "@@@";

/// The page with ports that are free.
fn page() -> String {
    // None contains one that is still to be replaced.
    let is_safe = |port: &String| PORTS.iter().all(|known| !port.contains(known));
    let free = PORTS.map(|_| std::iter::repeat_with(|| free_port().to_string()).find(is_safe).unwrap());
    let text = std::fs::read_to_string(workspace().join("docs/quickstart.md")).unwrap();
    PORTS.iter().zip(&free).fold(text, |text, (port, free)| {
        assert!(text.contains(port), "{port}");
        text.replace(port, free)
    })
}

fn is_there(program: &str) -> bool {
    let found = Command::new("sh").arg("-c").arg(format!("command -v {program}")).stdout(Stdio::null()).status();
    found.unwrap().success()
}

/// Runs a script and everything that it starts for at most two minutes. Returns what it printed.
fn run(script: &str, folder: &Path) -> String {
    let printed = folder.join("printed");
    let output = File::create(&printed).unwrap();
    let programs = Path::new(env!("CARGO_BIN_EXE_celero-proxy")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("bash")
        .args(["-c", script])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", programs.display()))
        .stdin(Stdio::null())
        .stdout(output.try_clone().unwrap())
        .stderr(output)
        .process_group(0)
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while shell.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(20));
    }
    // Whatever still runs.
    let _ = Command::new("sh").arg("-c").arg(format!("kill -KILL -{} 2> /dev/null", shell.id())).status();
    shell.wait().unwrap();
    std::fs::read_to_string(printed).unwrap()
}

#[test]
fn a_new_user_gets_what_the_page_says() {
    for program in ["bash", "curl", "openssl"] {
        if !is_there(program) {
            say(&format!("left out: there is no {program}"));
            return;
        }
    }
    let (page, folder) = (page(), Folder::new());
    let (mut script, mut expected) = (String::new(), Vec::new());
    for block in markdown::blocks(&page) {
        if let Some(file) = block.attribute("file") {
            folder.write(file, block.body);
        }
        if block.language != "console"
            || block.attribute("no-run") != Some("the test quickstart of celero-proxy runs it")
        {
            continue;
        }
        if let Some(program) = block.attribute("needs").filter(|program| !is_there(program)) {
            say(&format!("left out: line {}, there is no {program}", block.line));
            continue;
        }
        for (command, shown) in commands(block.body) {
            let _ = writeln!(script, "echo '{MARK}'\n{command}\necho '{MARK}'$?");
            expected.push((block.line, command, shown));
        }
    }
    assert!(expected.len() >= 25, "{}", expected.len());
    let printed = run(&script, &folder.0);
    let mut parts = printed.split(MARK);
    parts.next();
    for (line, command, shown) in expected {
        let place = format!("line {line}: `{command}`");
        let output = parts.next().unwrap_or_else(|| panic!("{place} was not reached:\n{printed}"));
        let status = parts.next().unwrap_or_else(|| panic!("{place} did not end:\n{printed}"));
        assert_eq!(status.trim(), "0", "{place} failed:\n{output}");
        let actual = lines(output.trim_matches('\n'));
        assert!(shown.is_empty() || shows(&lines(shown.trim_end()), &actual), "{place} prints\n{output}\nnot\n{shown}");
    }
}
