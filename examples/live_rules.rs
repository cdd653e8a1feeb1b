//! Rules that change while threads evaluate them: `cargo run -p celero-examples --bin live_rules`.

use celero::http::RequestContext;
use celero::{Engine, Env, ErrorPolicy, Live, Rule, Scratch};
use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let live = Live::new(Engine::new(), Env::<RequestContext>::new());
    live.replace(|rules| {
        rules.rule("admin", r#"request.path.startsWith("/admin")"#, 403).on_error(ErrorPolicy::Match)
    })?;

    let (stop, evaluations) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let reader = live.reader(); // one per thread
                let mut scratch = Scratch::new(); // too
                let request = http::Request::get("/admin").body(()).expect("a request");
                while !stop.load(Ordering::Relaxed) {
                    let rules = reader.load(); // one per request; no lock
                    let found =
                        rules.first(&RequestContext::new(&request), &mut scratch).expect("errors count as matches");
                    assert!(found.is_some(), "every generation of the rules denies this");
                    evaluations.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let result = change(&live);
        thread::sleep(Duration::from_millis(20));
        stop.store(true, Ordering::Relaxed);
        result
    })?;
    println!("{} evaluations meanwhile", evaluations.into_inner());
    Ok(())
}

type Rules = Live<RequestContext<'static>, i32>;

fn change(live: &Rules) -> Result<(), Box<dyn Error>> {
    // A change is in effect when the call returns.
    live.insert(Rule::new("beta", r#"request.path == "/beta""#, 404))?;
    assert_eq!(status(live, "/beta")?, Some(404));
    live.disable("beta");
    assert_eq!(status(live, "/beta")?, None);
    live.enable("beta");

    // A rule that does not compile changes nothing.
    let refused = live.insert(Rule::new("broken", "request.pth == 1", 500)).expect_err("there is no `pth`");
    println!("refused:\n{refused}");
    assert_eq!(status(live, "/beta")?, Some(404));

    // Candidate rules on all requests, before they decide anything.
    let candidate = |path| format!("request.path.startsWith('{path}')");
    let (admin, beta) = (candidate("/admin"), candidate("/b"));
    live.shadow(
        1.0,
        |rules| rules.rule("admin", &admin, 403).rule("all of b", &beta, 404).on_error(ErrorPolicy::Match),
        |difference| println!("the candidate differs: {difference}"),
    )?;
    assert_eq!(status(live, "/blog")?, None);
    assert!(live.promote());
    assert_eq!(status(live, "/blog")?, Some(404));
    println!("{:?}", live.status());
    Ok(())
}

/// The action of the first rule that matches a path.
fn status(live: &Rules, path: &str) -> Result<Option<i32>, Box<dyn Error>> {
    let request = http::Request::get(path).body(())?;
    let rules = live.load();
    Ok(rules.first(&RequestContext::new(&request), &mut Scratch::new())?.map(|rule| *rule.action))
}
