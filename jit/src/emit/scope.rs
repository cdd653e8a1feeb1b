//! Variables: the binding of each level, and a serial number that tells bindings apart.

use super::block::{Edge, ErrorTarget, Words, types};
use super::{Emitter, broken};
use crate::error::Error;
use celero_ir::NodeId;
use cranelift_codegen::ir::Value;
use cranelift_codegen::ir::types::I64;
use smallvec::SmallVec;

/// A variable's value, and its error if it can have one: a word that is 0 when there is none.
#[derive(Clone, Copy)]
pub(super) struct Binding {
    pub(super) error: Option<Value>,
    pub(super) words: Words,
}

/// The current bindings, indexed by level.
#[derive(Default)]
pub(super) struct Scope {
    levels: Vec<(Option<Binding>, u64)>,
    serial: u64,
}

impl Scope {
    /// Binds a level, and unbinds all below it.
    pub(super) fn enter(&mut self, level: u32, binding: Binding) {
        self.leave(level);
        self.serial = self.serial.saturating_add(1);
        self.levels.resize(level as usize, (None, self.serial));
        self.levels.push((Some(binding), self.serial));
    }

    /// Unbinds a level and all below it.
    pub(super) fn leave(&mut self, level: u32) {
        self.levels.truncate(level as usize);
    }

    /// A number that is the same as before only if all levels under `free` are bound as they were before.
    pub(super) fn stamp(&self, free: u32) -> u64 {
        let depth = self.levels.len().min(free as usize);
        depth.checked_sub(1).and_then(|top| self.levels.get(top)).map_or(0, |(_, serial)| *serial)
    }

    fn get(&self, level: u32) -> Option<Binding> {
        self.levels.get(level as usize).and_then(|(binding, _)| *binding)
    }
}

impl Emitter<'_, '_> {
    /// Emits `init` and binds its value together with its error. A final error is raised at once.
    pub(super) fn bind(&mut self, level: u32, init: NodeId) -> Result<(), Error> {
        let binding = if self.plan.facts(init).fails {
            let ty = self.unit.graph.ty(init);
            let join = self.builder.create_block();
            let error = self.builder.append_block_param(join, I64);
            let params: SmallVec<[Value; 2]> =
                types(ty).iter().map(|&ty| self.builder.append_block_param(join, ty)).collect();
            let caught = self.cold_block();
            let outer = std::mem::replace(&mut self.target, ErrorTarget::to(caught));
            let words = self.value(init);
            self.target = outer;
            let mut args: SmallVec<[Value; 3]> = SmallVec::new();
            args.push(self.word(0));
            args.extend(words?.list());
            self.jump_with(join, &args);

            let word = self.caught(caught);
            self.raise_if_final(word, init);
            args.clear();
            args.push(word);
            args.extend(self.zero(ty).list());
            self.jump_with(join, &args);
            self.start(join);
            Binding { error: Some(error), words: Words::of(&params)? }
        } else {
            Binding { error: None, words: self.value(init)? }
        };
        self.scope.enter(level, binding);
        Ok(())
    }

    /// A variable's value. If it was bound to an error, that is raised here.
    pub(super) fn local(&mut self, id: NodeId, level: u32) -> Result<Words, Error> {
        let binding = self.scope.get(level).ok_or_else(|| broken("a variable that is not bound"))?;
        if types(self.unit.graph.ty(id)).len() != binding.words.list().len() {
            return Err(broken("a variable of another type than its value"));
        }
        if let Some(error) = binding.error {
            let go = self.builder.create_block();
            self.raise_or(error, Edge::to(go));
            self.start(go);
        }
        Ok(binding.words)
    }
}
