//! Environment variables in a configuration may be secrets: no error quotes their values, whatever
//! key has one of the wrong form.

use crate::running::Folder;
use crate::schema_documents::{block, documents, whole_config};
use celero_proxy::config::Config;
use serde_json::json;
use std::process::Command;

/// The variable whose values are the secrets.
const NAME: &str = "CELERO_TEST_SECRET";

/// Secrets that are wrong for most keys, each in another way, and a part of each that is in no other text.
const SECRETS: [(&str, &str); 6] = [
    ("hunter2", "hunter"),
    ("Hunter2:hunter3@x", "unter"),
    ("/hunter2/../hunter%41", "hunter"),
    ("hunter2 hunter3", "hunter"),
    ("https://hunter2/hunter3?hunter4=`x`", "hunter"),
    ("7919s79197919", "7919"),
];

#[test]
fn values_of_variables_are_in_no_error() {
    let Ok(secret) = std::env::var(NAME) else {
        // This program with each secret in its environment.
        for (secret, _) in SECRETS {
            let mut own = Command::new(std::env::current_exe().unwrap());
            own.args(["--exact", "secret_variables::values_of_variables_are_in_no_error", "--nocapture"]);
            let output = own.env(NAME, secret).output().unwrap();
            let shown = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
            assert!(output.status.success() && shown.contains("1 passed"), "{secret}: {shown}");
        }
        return;
    };
    let (_, part) = SECRETS.into_iter().find(|(known, _)| *known == secret).unwrap();
    let folder = Folder::new();
    let (mut keys, mut wrong, mut quoted) = (0, 0, Vec::new());
    for written in [format!("${{{NAME}}}"), format!("a${{{NAME}}}"), format!("/${{{NAME}}}/b")] {
        for (path, document) in documents(&Config::json_schema(), &|_| Some(json!(written))) {
            let whole = whole_config(&path, &document);
            for text in [whole.to_string(), block(&whole)] {
                keys += 1;
                let Err(error) = Config::load(&folder.write("proxy.yaml", &text)) else { continue };
                let error = error.to_string();
                wrong += usize::from(error.contains(NAME));
                if error.to_ascii_lowercase().contains(part) {
                    quoted.push(format!("{path}: {written}\n{error}"));
                }
            }
        }
    }
    assert!(keys > 600 && wrong > 200, "{keys} {wrong}");
    assert!(quoted.is_empty(), "{} of {wrong}:\n{}", quoted.len(), quoted.join("\n"));
}
