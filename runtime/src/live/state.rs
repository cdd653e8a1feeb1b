//! The state that a `Live`, its readers and its background thread share.
//!
//! Invariant: all segments have one error policy. A change that was compiled for another one is compiled again. Test:
//! `runtime/tests/it/live/mod.rs::all_rules_have_one_policy`.

use super::layer::{Disabled, Layer};
use super::segment::DropQueue;
use super::shadow::{Shadow, Watch};
use super::snapshot::Snapshot;
use crate::counters::Counters;
use crate::engine::Engine;
use crate::env::Env;
use crate::rules::ErrorPolicy;
use arc_swap::ArcSwap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What a `Live`, its readers and its background thread share.
pub(super) struct Shared<S, A> {
    pub(super) current: ArcSwap<Snapshot<S, A>>,
    pub(super) engine: Engine,
    pub(super) env: Env<S>,
    /// The counters, if they are wanted.
    pub(super) counters: Option<Arc<Counters>>,
    state: Mutex<State<S, A>>,
    /// Notified when background work is done.
    pub(super) idle: Condvar,
    /// Whether the `Live` was dropped.
    pub(super) closed: AtomicBool,
    pub(super) drop_queue: Arc<DropQueue<S, A>>,
}

/// What writers change. No code of the host runs while it is locked.
pub(super) struct State<S, A> {
    pub(super) generation: u64,
    pub(super) live: Layer<S, A>,
    pub(super) candidate: Option<(Layer<S, A>, Arc<Watch>)>,
    pub(super) disabled: Disabled,
    /// Why there is no background thread, if there is none.
    pub(super) threadless: Option<String>,
}

impl<S, A> State<S, A> {
    fn new() -> Self {
        let live = Layer::empty(ErrorPolicy::default());
        Self { generation: 0, live, candidate: None, disabled: Disabled::new(), threadless: None }
    }

    /// The live rules and the candidate.
    pub(super) fn layers(&self) -> impl Iterator<Item = &Layer<S, A>> {
        std::iter::once(&self.live).chain(self.candidate.as_ref().map(|(layer, _)| layer))
    }

    pub(super) fn layers_mut(&mut self) -> impl Iterator<Item = &mut Layer<S, A>> {
        std::iter::once(&mut self.live).chain(self.candidate.as_mut().map(|(layer, _)| layer))
    }

    /// Whether there is background work.
    pub(super) fn is_busy(&self) -> bool {
        self.threadless.is_none() && self.layers().any(Layer::is_busy)
    }

    /// Disables or enables the rules with a name. Returns how many live ones there are.
    pub(super) fn switch(&mut self, name: &str, disabled: bool) -> usize {
        let rules = self.live.disable(name, disabled);
        if let Some((candidate, _)) = &mut self.candidate {
            candidate.disable(name, disabled);
        }
        rules
    }

    pub(super) fn snapshot(&self, counters: Option<&Arc<Counters>>) -> Snapshot<S, A> {
        let shadow =
            |(layer, watch): &(Layer<S, A>, Arc<Watch>)| Shadow { views: layer.views(), watch: Arc::clone(watch) };
        let shadow = self.candidate.as_ref().map(shadow);
        Snapshot { generation: self.generation, counters: counters.map(Arc::clone), live: self.live.views(), shadow }
    }
}

impl<S, A> Shared<S, A> {
    /// The state without rules.
    pub(super) fn new(engine: Engine, env: Env<S>, counters: Option<Arc<Counters>>) -> Self {
        let state = State::new();
        Self {
            current: ArcSwap::from_pointee(state.snapshot(counters.as_ref())),
            engine,
            env,
            counters,
            state: Mutex::new(state),
            idle: Condvar::new(),
            closed: AtomicBool::new(false),
            drop_queue: Arc::new(DropQueue::new()),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State<S, A>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes the state. Returns the previous snapshot, to be dropped outside of the lock.
    pub(super) fn publish(&self, state: &mut State<S, A>) -> Arc<Snapshot<S, A>> {
        state.generation = state.generation.saturating_add(1);
        self.current.swap(Arc::new(state.snapshot(self.counters.as_ref())))
    }

    /// Changes the state and publishes it. Returns what `change` returns, which includes what it has replaced.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State<S, A>) -> T) -> T {
        let mut state = self.lock();
        let changed = change(&mut state);
        let old = self.publish(&mut state);
        drop(state);
        drop(old);
        self.drop_queue.wake();
        changed
    }
}
