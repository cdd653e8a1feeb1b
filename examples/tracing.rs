//! Spans and events of compiling and of changes: `cargo run -p celero-examples --bin tracing`.
//!
//! Any subscriber of `tracing` receives them. This one prints; most programs take `tracing-subscriber`.

use celero::{Engine, Env, Live, Rule};
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Counts what it receives, and prints it.
#[derive(Default)]
struct Printer {
    spans: AtomicU64,
}

/// The fields of a span or an event, as text.
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0 += &format!(" {field}={value:?}");
    }
}

impl Subscriber for Printer {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "celero"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(String::new());
        span.record(&mut fields);
        println!("span {}{}", span.metadata().name(), fields.0);
        Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        println!("{}{}", event.metadata().level(), fields.0);
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn main() -> Result<(), Box<dyn Error>> {
    let printer = Arc::new(Printer::default());
    tracing::subscriber::set_global_default(Arc::clone(&printer))?;

    let engine = Engine::new();
    let env = Env::dynamic();
    engine.compile(&env, "1 + 1 == 2")?;
    let live = Live::new(engine, env);
    live.replace(|rules| rules.rule("one", "true", ()))?;
    live.insert(Rule::new("two", "false", ()))?;
    live.disable("one");
    assert!(printer.spans.load(Ordering::Relaxed) >= 3, "compiling and each change have a span");
    Ok(())
}
