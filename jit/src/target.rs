//! The machine that code is generated for: Cranelift's settings, the signature of compiled
//! functions, and what emission may know of the machine.
//!
//! This is the only file that decides by instruction set. It generates code for the machine that it
//! runs on, and refuses machines whose calling convention does not return two words in registers,
//! which helpers need.

use crate::error::Error;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, Signature};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa, TargetFrontendConfig};
use cranelift_codegen::settings::{self, Configurable};

/// Facts about the machine on which emission may depend.
///
/// Add a field for a lowering that only some machines have (for example "has SVE2") and compute it
/// in [`Target::facts`] from the instruction set's triple and flags.
#[derive(Clone, Copy)]
pub(crate) struct TargetFacts {
    /// The calling convention of helpers and accessors, and the width of pointers.
    pub(crate) config: TargetFrontendConfig,
}

/// The machine, as Cranelift sees it.
pub(crate) struct Target {
    pub(crate) isa: OwnedTargetIsa,
    /// The signature of most compiled functions: the addresses of the host's data and of the
    /// evaluation frame to a word.
    pub(crate) signature: Signature,
    /// The same to two words, for functions that return text.
    pub(crate) text_signature: Signature,
}

impl Target {
    /// The machine that this process runs on, with all instruction set extensions that it has.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] where Cranelift or this crate cannot generate code for it.
    pub(crate) fn host(verify: bool) -> Result<Self, Error> {
        let unsupported = |why: &dyn std::fmt::Display| Error::Unsupported(why.to_string());
        let builder = cranelift_native::builder().map_err(|why| unsupported(&why))?;
        let isa = builder.finish(flags(verify)?).map_err(|e| unsupported(&e))?;
        // Helpers return two integer registers, and text is compared as little-endian words.
        let convention = isa.default_call_conv();
        if !matches!(convention, CallConv::SystemV | CallConv::AppleAarch64) {
            return Err(unsupported(&format!("calling convention {convention}")));
        }
        if cfg!(target_endian = "big") || isa.pointer_bits() != 64 {
            return Err(unsupported(&"only little-endian machines of 64 bits"));
        }
        let mut signature = Signature::new(convention);
        signature.params.extend([AbiParam::new(I64), AbiParam::new(I64)]);
        signature.returns.push(AbiParam::new(I64));
        let mut text_signature = signature.clone();
        text_signature.returns.push(AbiParam::new(I64));
        Ok(Self { isa, signature, text_signature })
    }

    /// What emission may know of the machine.
    pub(crate) fn facts(&self) -> TargetFacts {
        TargetFacts { config: self.isa.frontend_config() }
    }
}

/// Cranelift's settings, the same for every machine.
fn flags(verify: bool) -> Result<settings::Flags, Error> {
    let mut flags = settings::builder();
    for (name, value) in [
        // Emission leaves nothing for the optimiser to find; optimising would add half of the compile time.
        ("opt_level", "none"),
        // `single_pass` compiles a rule in about a third less time, but its developers do not
        // recommend it where security matters: see `RegallocAlgorithm` in the documentation of
        // Wasmtime 48.
        ("regalloc_algorithm", "backtracking"),
        ("enable_verifier", if verify { "true" } else { "false" }),
        ("preserve_frame_pointers", "true"),
        ("unwind_info", "true"),
        // A large frame touches each of its pages, so that it can't step over the guard page.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("is_pic", "false"),
    ] {
        flags.set(name, value).map_err(|e| Error::Internal(e.to_string()))?;
    }
    Ok(settings::Flags::new(flags))
}
