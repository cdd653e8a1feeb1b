//! What the owner of live rules, their readers and their thread have in common.

use super::layer::{Disabled, Layer};
use super::reader::Snapshot;
use super::segment::Graveyard;
use super::shadow::{Shadow, Watch};
use crate::counters::Board;
use crate::engine::Engine;
use crate::env::Env;
use crate::rules::ErrorPolicy;
use arc_swap::ArcSwap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What the `Live`, its readers and its thread have in common.
pub(super) struct Shared<S, A> {
    pub(super) current: ArcSwap<Snapshot<S, A>>,
    pub(super) engine: Engine,
    pub(super) env: Env<S>,
    /// Where counts are kept, if they are wanted.
    pub(super) board: Option<Arc<Board>>,
    state: Mutex<State<S, A>>,
    /// Told when work in the background is done.
    pub(super) settled: Condvar,
    /// Whether the `Live` is gone.
    pub(super) closed: AtomicBool,
    pub(super) graveyard: Arc<Graveyard<S, A>>,
}

/// What is behind the published rules. Nothing of the host's runs while it is locked.
pub(super) struct State<S, A> {
    pub(super) generation: u64,
    pub(super) live: Layer<S, A>,
    pub(super) candidate: Option<(Layer<S, A>, Arc<Watch>)>,
    pub(super) disabled: Disabled,
    /// Why there is no thread in the background, if there is none.
    pub(super) threadless: Option<String>,
}

impl<S, A> State<S, A> {
    fn new() -> Self {
        let live = Layer::empty(ErrorPolicy::default());
        Self { generation: 0, live, candidate: None, disabled: Disabled::new(), threadless: None }
    }

    /// The live rules and those of the candidate.
    pub(super) fn layers(&self) -> impl Iterator<Item = &Layer<S, A>> {
        std::iter::once(&self.live).chain(self.candidate.as_ref().map(|(layer, _)| layer))
    }

    pub(super) fn layers_mut(&mut self) -> impl Iterator<Item = &mut Layer<S, A>> {
        std::iter::once(&mut self.live).chain(self.candidate.as_mut().map(|(layer, _)| layer))
    }

    /// Whether there is work to be done in the background.
    pub(super) fn is_unsettled(&self) -> bool {
        self.threadless.is_none() && self.layers().any(Layer::is_unsettled)
    }

    /// Switches the rules of a name, and says how many live ones there are.
    pub(super) fn switch(&mut self, name: &str, disabled: bool) -> usize {
        let rules = self.live.disable(name, disabled);
        if let Some((candidate, _)) = &mut self.candidate {
            candidate.disable(name, disabled);
        }
        rules
    }

    pub(super) fn snapshot(&self, board: Option<&Arc<Board>>) -> Snapshot<S, A> {
        let shadow =
            |(layer, watch): &(Layer<S, A>, Arc<Watch>)| Shadow { views: layer.views(), watch: Arc::clone(watch) };
        let shadow = self.candidate.as_ref().map(shadow);
        Snapshot { generation: self.generation, board: board.map(Arc::clone), live: self.live.views(), shadow }
    }
}

impl<S, A> Shared<S, A> {
    /// No rules yet.
    pub(super) fn new(engine: Engine, env: Env<S>, board: Option<Arc<Board>>) -> Self {
        let state = State::new();
        Self {
            current: ArcSwap::from_pointee(state.snapshot(board.as_ref())),
            engine,
            env,
            board,
            state: Mutex::new(state),
            settled: Condvar::new(),
            closed: AtomicBool::new(false),
            graveyard: Arc::new(Graveyard::new()),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State<S, A>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the state visible; gives what was visible before, to be dropped outside of the lock.
    pub(super) fn publish(&self, state: &mut State<S, A>) -> Arc<Snapshot<S, A>> {
        state.generation = state.generation.saturating_add(1);
        self.current.swap(Arc::new(state.snapshot(self.board.as_ref())))
    }

    /// Changes the state and makes it visible. `change` gives what it has replaced, too.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State<S, A>) -> T) -> T {
        let mut state = self.lock();
        let changed = change(&mut state);
        let old = self.publish(&mut state);
        drop(state);
        drop(old);
        self.graveyard.wake();
        changed
    }
}
