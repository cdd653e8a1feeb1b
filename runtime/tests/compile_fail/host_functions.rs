use celero::Env;

struct Own;

fn parameter(_: &str, _: Own) -> bool {
    true
}

fn result(_: &str) -> Vec<Own> {
    Vec::new()
}

fn reference(_: &i64) -> bool {
    true
}

fn symbol(_: char) -> f64 {
    1.0
}

fn main() {
    let env = Env::dynamic();
    let env = env.function("parameter", parameter);
    let env = env.function("reference", reference);
    let env = env.function("result", result);
    let env = env.pure_function("symbol", symbol);
    let env = env.function("seven", |_: i64, _: i64, _: i64, _: i64, _: i64, _: i64, _: i64| true);
    let _ = env.function("none", 7);
}
