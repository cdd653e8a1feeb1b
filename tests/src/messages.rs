//! Types of messages, and whether two messages are the same by another implementation of protocol
//! buffers.

use celero::messages::Descriptors;
use prost_reflect::{DescriptorPool, DynamicMessage};
use std::path::Path;
use std::sync::OnceLock;

/// What a suite's messages are read with: celero's descriptors, and those of the judge.
#[derive(Debug)]
pub struct Types {
    /// celero's.
    pub types: Descriptors,
    judge: DescriptorPool,
}

static TYPES: OnceLock<Types> = OnceLock::new();

/// Reads the descriptors of a suite, `descriptors.binpb` beside its files. The first suite that is
/// read counts.
///
/// # Errors
/// The file can't be read, or is none of descriptors.
pub fn load(dir: &Path) -> Result<(), String> {
    if TYPES.get().is_some() {
        return Ok(());
    }
    let Some(file) = [dir.join("descriptors.binpb"), dir.join("../descriptors.binpb")].into_iter().find(|f| f.exists())
    else {
        return Ok(());
    };
    let bytes = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let types = Descriptors::from_bytes(&bytes).map_err(|error| format!("{}: {error}", file.display()))?;
    let judge = DescriptorPool::decode(bytes.as_slice()).map_err(|error| format!("{}: {error}", file.display()))?;
    let _ = TYPES.set(Types { types, judge });
    Ok(())
}

/// The types of the suite; without its descriptors only those of `google.protobuf`.
pub fn types() -> &'static Types {
    TYPES.get_or_init(|| Types { types: Descriptors::well_known(), judge: DescriptorPool::global() })
}

/// Whether two messages are the same, by the judge: unknown fields and the order of fields do not
/// count.
#[must_use]
pub fn same(name: &str, one: &[u8], other: &[u8]) -> bool {
    let Some(ty) = types().judge.get_message_by_name(name) else { return false };
    let decode = |bytes: &[u8]| DynamicMessage::decode(ty.clone(), bytes).ok();
    decode(one).zip(decode(other)).is_some_and(|(one, other)| one == other)
}
