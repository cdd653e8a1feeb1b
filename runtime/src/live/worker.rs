//! The background thread: compiles rules that are only interpreted so far, merges small segments, and drops old sets.

use super::layer::Layer;
use super::segment::{DropQueue, Segment, build};
use super::state::Shared;
use crate::compilation::cancellation::Cancellation;
use crate::compilation::spans::{event, span};
use crate::context::Context;
use crate::function::contained;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::thread::{Builder, Thread, park};

/// Starts the thread, which ends when the `Live` is dropped.
pub(super) fn start<S, A>(shared: &Arc<Shared<S, A>>) -> std::io::Result<Thread>
where
    S: Context<Static = S> + 'static,
    A: Send + Sync + 'static,
{
    let (drop_queue, shared) = (Arc::clone(&shared.drop_queue), Arc::downgrade(shared));
    let thread = Builder::new().name("celero-live".into()).spawn(move || keep(&drop_queue, &shared))?;
    Ok(thread.thread().clone())
}

fn keep<S: Context<Static = S> + 'static, A>(drop_queue: &DropQueue<S, A>, shared: &Weak<Shared<S, A>>) {
    loop {
        drop_queue.clear();
        match shared.upgrade() {
            Some(shared) if !shared.closed.load(Ordering::Acquire) => {
                if work(&shared) {
                    continue;
                }
            }
            _ => return,
        }
        park();
    }
}

/// Does one piece of work. Returns whether there was any.
fn work<S: Context<Static = S> + 'static, A>(shared: &Shared<S, A>) -> bool {
    let plan = shared.lock().layers().find_map(Layer::plan);
    let Some(plan) = plan else { return false };
    span!("celero.background");
    let stale = Arc::clone(&plan.stale);
    let cancellation = Cancellation::when(move || stale.load(Ordering::Relaxed));
    let built = contained(|| {
        let (items, origins) = plan.rules();
        // One thread, because requests need the processors too.
        let Shared { engine, env, .. } = shared;
        let built = build(engine, env, engine.tier(), 1, cancellation.clone(), &items, plan.on_error);
        built.map(|content| (content, origins)).map_err(|error| error.to_string())
    });
    let built = built.unwrap_or_else(|()| Err("internal error: compiling rules of a set panicked".to_owned()));
    if let Err(why) = &built
        && !cancellation.is_requested()
    {
        event!(warn, "rules are not compiled", why = why);
    }
    let mut state = shared.lock();
    // Work that is stale belongs to no layer.
    let layer = state.layers_mut().find(|layer| Arc::ptr_eq(&layer.stale, &plan.stale));
    let mut old = None;
    match (layer, built) {
        (None, _) => (),
        (Some(layer), Ok((content, origins))) => {
            layer.merge(&plan, Segment::new(content, &shared.drop_queue), &origins);
            old = Some(shared.publish(&mut state));
        }
        (Some(layer), Err(why)) => {
            layer.stuck = Some(why);
        }
    }
    drop(state);
    shared.idle.notify_all();
    drop((old, plan));
    true
}

#[cfg(test)]
mod tests {
    use super::super::Live;
    use super::super::layer::Disabled;
    use super::super::segment::LiveRule;
    use super::*;
    use crate::engine::{Engine, Tier};
    use crate::env::Env;
    use crate::rules::{ErrorPolicy, Rule};
    use celero_frontend::Type;
    use std::time::Duration;

    #[test]
    fn work_that_fails_leaves_the_rules_as_they_are() {
        let long = Duration::from_secs(600);
        let live = Live::new(Engine::new(), Env::dynamic());
        // Rules of another environment compile in that one only.
        let env = Env::dynamic().variable("x", Type::Int);
        let entry = Arc::new(LiveRule::new(0, 0, None, 1));
        let items = [Rule::new("bad", "x == 1", entry)];
        let wanted = Cancellation::default();
        let content = build(&Engine::new(), &env, Tier::Interpret, 1, wanted, &items, ErrorPolicy::NoMatch).unwrap();
        let segment = Segment::new(content, &live.shared.drop_queue);
        live.shared.change(|state| state.live.push(segment, &Disabled::new()));
        assert!(live.wait_idle(long), "it is not tried again and again");
        let failure = live.status().failure.unwrap();
        assert!(failure.contains("bad:1:1") && failure.contains('x'), "{failure}");
        live.insert(Rule::new("good", "true", 2)).unwrap();
        assert!(live.wait_idle(long));
        assert_eq!((live.load().len(), live.status().native_rules), (2, 0));
        assert_eq!(live.remove("bad"), 1);
        assert!(live.wait_idle(long));
        assert_eq!((live.status().failure, live.load().len()), (None, 1));
    }
}
