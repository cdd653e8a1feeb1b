//! The compiler of a build without the feature `cranelift`: there is none, and no value of what it would return.

use crate::code::{Code, Listing, SharedFunction};
use crate::convention::Convention;
use crate::error::Error;
use crate::settings::{Profiling, Settings};
use crate::unit::{GroupedRule, HeaderBatch, Unit};
use celero_ir::NodeId;
use std::iter::Empty;
use std::ptr::NonNull;
use std::time::Duration;

/// A compiler. This build has none.
#[derive(Debug)]
pub enum Compiler {}

impl Compiler {
    /// Returns the error of a build without Cranelift.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`], always.
    pub fn new(_: &Settings) -> Result<Self, Error> {
        Err(Error::Unsupported("this build is without the feature `native`".into()))
    }

    /// As with Cranelift.
    ///
    /// # Errors
    ///
    /// Never called.
    pub fn compile(&mut self, _: &Unit<'_>) -> Result<Code, Error> {
        match *self {}
    }

    /// As with Cranelift.
    ///
    /// # Errors
    ///
    /// Never called.
    pub fn compile_shared(&mut self, _: &Unit<'_>, _: NodeId) -> Result<SharedFunction, Error> {
        match *self {}
    }

    /// As with Cranelift.
    ///
    /// # Errors
    ///
    /// Never called.
    pub fn group(
        &mut self,
        _: &Unit<'_>,
        _: &[GroupedRule<'_>],
        _: &[HeaderBatch<'_>],
        _: i64,
    ) -> Result<CompiledFunction, Error> {
        match *self {}
    }

    /// As with Cranelift.
    ///
    /// # Errors
    ///
    /// Never called.
    pub fn template(&mut self, _: &Unit<'_>, _: NodeId) -> Result<CompiledFunction, Error> {
        match *self {}
    }

    /// As with Cranelift.
    ///
    /// # Errors
    ///
    /// Never called.
    pub fn install(&mut self, _: Vec<CompiledFunction>) -> Result<Code, Error> {
        match *self {}
    }

    /// As with Cranelift.
    #[must_use]
    pub fn codegen_time(&self) -> Duration {
        match *self {}
    }

    /// As with Cranelift.
    ///
    /// # Errors
    ///
    /// Never called.
    pub fn explain(&mut self, _: &Unit<'_>) -> Result<Vec<Listing>, Error> {
        match *self {}
    }
}

/// Writes no names: there are no functions.
#[derive(Debug)]
pub struct Profiler;

impl Profiler {
    /// Returns a profiler that writes nothing.
    #[must_use]
    pub fn new(_: Profiling) -> Self {
        Self
    }

    /// Never called: there is no code.
    pub fn record(&self, code: &Code, _: impl Fn(usize) -> String) {
        match code.memory {}
    }

    /// None.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        None
    }
}

/// A function that is compiled: none is.
#[derive(Debug)]
pub enum CompiledFunction {}

/// An installed function.
#[derive(Debug)]
pub(crate) struct InstalledFunction<'c> {
    pub(crate) code: &'c [u8],
}

/// Executable memory: none is mapped.
#[derive(Debug)]
pub(crate) enum CodeMemory {}

impl CodeMemory {
    pub(crate) fn function(&self, _: usize) -> Option<(NonNull<u8>, Convention)> {
        match *self {}
    }

    pub(crate) fn installed(&self) -> Empty<InstalledFunction<'_>> {
        match *self {}
    }

    pub(crate) fn size(&self) -> usize {
        match *self {}
    }
}
