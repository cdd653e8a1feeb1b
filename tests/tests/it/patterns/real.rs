//! Patterns of real rule sets over real text: native code, which has cheaper means than the engine
//! for many of them, gives what the interpreter gives.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero::{Bindings, Engine, Env, Program, Tier, Type, Value};
use celero_tests::shared::{find, say};
use std::path::Path;

/// The member of this name of every line of a file.
fn column(file: &Path, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    rows.filter_map(|row| row.get(name)?.as_str().map(str::to_owned)).collect()
}

fn compiled(env: &Env<Bindings<'static>>, engine: &Engine, pattern: &str) -> Program<Bindings<'static>> {
    // What JSON escapes, CEL does too.
    let literal = serde_json::to_string(pattern).unwrap();
    engine.compile(env, &format!("text.matches({literal})")).unwrap()
}

#[test]
fn both_tiers_decide_real_patterns_alike() {
    let file = |name: &str| find(&format!("corpora/{name}"), "real patterns");
    let (Some(rules), Some(crawlers), Some(requests), Some(agents)) = (
        file("crs_regexes.jsonl"),
        file("crawler_patterns.jsonl"),
        file("http_requests.jsonl"),
        file("user_agents.txt"),
    ) else {
        return;
    };
    let mut found: Vec<String> = column(&rules, "regex");
    found.extend(column(&crawlers, "pattern").into_iter().step_by(4));
    let mut texts: Vec<String> = column(&requests, "uri").into_iter().step_by(60).collect();
    texts.extend(std::fs::read_to_string(agents).unwrap().lines().step_by(100).map(str::to_owned));
    let env = Env::dynamic().variable("text", Type::String);
    let mut patterns: Vec<String> = found.clone();
    // Bound to the ends, where the means differ most.
    patterns.extend(found.iter().step_by(8).map(|pattern| format!("^{pattern}")));
    patterns.extend(found.iter().skip(1).step_by(8).map(|pattern| format!("{pattern}$")));
    patterns.extend(found.iter().skip(2).step_by(8).map(|pattern| format!("^(?:{pattern})$")));
    let engines = [Tier::Interpret, Tier::Native].map(|tier| Engine::builder().tier(tier).build());
    let mut matched = 0_u32;
    for pattern in &patterns {
        let programs = engines.each_ref().map(|engine| compiled(&env, engine, pattern));
        // The pattern's own letters, which some patterns match.
        let own: String = pattern.chars().filter(|c| !r"^$()?\[]*+|{}".contains(*c)).collect();
        let near = [own.clone(), format!("{own}\n"), format!("x{own}"), own.to_uppercase()];
        for text in texts.iter().chain(&near) {
            let mut bindings = Bindings::new(&env);
            bindings.set("text", Value::String(text)).unwrap();
            let [interpreted, native] = programs.each_ref().map(|program| program.test(&bindings).map_err(|e| e.kind));
            assert_eq!(native, interpreted, "{pattern:?} on {text:?}");
            matched = matched.saturating_add(u32::from(native == Ok(true)));
        }
    }
    assert!(matched > 500, "{matched}");
    say(&format!("{} patterns over {} texts, {matched} matches", patterns.len(), texts.len()));
}
