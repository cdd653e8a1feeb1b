//! What a subscriber of `tracing` is told: of compiling and of changes, and nothing of requests.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero::{Bindings, Engine, Env, Live, Scratch, Type, Value};
use std::fmt::{Debug, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps what it is told as text.
#[derive(Default)]
struct Notes {
    lines: Mutex<Vec<String>>,
    spans: AtomicU64,
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Times differ.
        if field.name() != "microseconds" && field.name() != "code_bytes" {
            write!(self.0, " {}={value:?}", field.name()).unwrap();
        }
    }
}

static NOTES: Notes = Notes { lines: Mutex::new(Vec::new()), spans: AtomicU64::new(0) };

struct Subscribed;

impl Subscriber for Subscribed {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "celero"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut line = Line(span.metadata().name().to_owned());
        span.record(&mut line);
        note(line.0);
        Id::from_u64(NOTES.spans.fetch_add(1, Ordering::Relaxed).saturating_add(1))
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        note(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn note(line: String) {
    NOTES.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
}

fn told() -> Vec<String> {
    std::mem::take(&mut *NOTES.lines.lock().unwrap())
}

#[test]
fn compiling_and_changes_are_told_and_requests_are_not() {
    tracing::subscriber::set_global_default(Subscribed).unwrap();
    let env = Env::dynamic().variable("a", Type::Int);
    let engine = Engine::new();
    let mut call = Bindings::new(&env);
    call.set("a", Value::Int(1)).unwrap();
    let mut scratch = Scratch::new();

    let program = engine.compile(&env, "a == 1").unwrap();
    assert_eq!(told(), ["celero.compile bytes=6", "DEBUG message=compiled native=true warnings=0"]);
    assert!(engine.compile(&env, "a +").is_err());
    assert_eq!(told(), ["celero.compile bytes=3", "DEBUG message=refused errors=1"]);
    let set = engine.rules(&env).rule("r", "a > 1", ()).rule("s", "a > 2", ()).build().unwrap();
    assert_eq!(told(), ["celero.build rules=2 native=true", "DEBUG message=built rules=2 native=2 indexed=0"]);

    let live = Live::new(engine, env.clone());
    live.replace(|rules| rules.rule("r", "a > 1", ())).unwrap();
    assert!(live.wait_idle(Duration::from_secs(600)));
    // Two threads tell this.
    let mut both = told();
    both.sort_unstable();
    assert_eq!(
        both,
        [
            "DEBUG message=built rules=1 native=0 indexed=0",
            "DEBUG message=built rules=1 native=1 indexed=0",
            "INFO message=rules replaced rules=1",
            "celero.background",
            "celero.build rules=1 native=false",
            "celero.build rules=1 native=true",
            "celero.replace",
        ]
    );
    live.disable("r");
    live.enable("r");
    live.remove("none");
    assert!(!live.promote());
    assert_eq!(
        told(),
        [
            "INFO message=rule disabled name=\"r\" rules=1",
            "INFO message=rule enabled name=\"r\" rules=1",
            "INFO message=rule removed name=\"none\" rules=0",
            "INFO message=candidate promoted found=false",
        ]
    );

    for _ in 0..10 {
        assert_eq!(program.test(&call), Ok(true));
        assert_eq!(set.count(&call, &mut scratch), Ok(0));
        assert_eq!(live.load().any(&call, &mut scratch), Ok(false));
    }
    assert_eq!(told(), [""; 0]);
}
