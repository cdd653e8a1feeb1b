//! Machine code in which the words of one rule are exchanged for those of another.
//!
//! The words are eight bytes each, in instructions or beside them, where the code generator has
//! left a relocation: the address of a symbol of which no other use is made. A relocation's addend
//! is the number of its word, so that functions whose words differ have equal CLIF, and the same
//! code but for these bytes. From the third rule of a shape on, the code is copied and its
//! constants patched; Cranelift does not run. A copy is made from the code before it is installed;
//! installed code is never written.

use crate::code_memory::CompiledFunction;
use crate::convention::Convention;
use crate::error::Error;
use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::ir::{ExternalName, Function, GlobalValue, GlobalValueData, UserExternalName};
use cranelift_codegen::{CompiledCode, FinalizedRelocTarget};

/// The code of a function, without its words.
#[derive(Debug)]
pub(crate) struct CodeTemplate {
    bytes: Box<[u8]>,
    align: u64,
    /// Where the words are.
    places: Box<[WordPlace]>,
}

/// Eight bytes that hold a word.
#[derive(Debug)]
struct WordPlace {
    /// Where they begin.
    offset: usize,
    /// The number of the word.
    word: usize,
}

/// The symbol whose address the code generator leaves open, for the word of this number.
pub(crate) fn symbol(func: &mut Function, word: usize) -> GlobalValue {
    let name = func.declare_imported_user_function(UserExternalName::new(0, 0));
    // A rule with more words exceeds the number of instructions.
    let offset = i64::try_from(word).unwrap_or(i64::MAX).into();
    func.create_global_value(GlobalValueData::Symbol {
        name: ExternalName::user(name),
        offset,
        colocated: false,
        tls: false,
    })
}

impl CodeTemplate {
    /// Takes the code of a function.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if it has relocations of another kind.
    pub(crate) fn new(code: &CompiledCode) -> Result<Self, Error> {
        let bytes: Box<[u8]> = code.buffer.data().into();
        let place = |reloc: &cranelift_codegen::FinalizedMachReloc| {
            let (offset, word) = (usize::try_from(reloc.offset).ok()?, usize::try_from(reloc.addend).ok()?);
            let known = reloc.kind == Reloc::Abs8
                && matches!(reloc.target, FinalizedRelocTarget::ExternalName(ExternalName::User(_)));
            known.then_some(WordPlace { offset, word })
        };
        let places = code.buffer.relocs().iter().map(place).collect::<Option<_>>();
        let places = places.ok_or_else(|| Error::Internal("code that needs relocations".into()))?;
        Ok(Self { bytes, align: u64::from(code.buffer.alignment), places })
    }

    /// The function with these words.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if a word is missing, or its place is outside of the code.
    pub(crate) fn function(&self, words: &[u64], convention: Convention) -> Result<CompiledFunction, Error> {
        let mut bytes = self.bytes.to_vec();
        for &WordPlace { offset, word } in &self.places {
            let place = bytes.get_mut(offset..).and_then(|rest| rest.first_chunk_mut::<8>());
            let (Some(place), Some(word)) = (place, words.get(word)) else {
                return Err(Error::Internal("a relocation outside of the code".into()));
            };
            *place = word.to_le_bytes();
        }
        Ok(CompiledFunction { bytes, align: self.align, convention })
    }
}
