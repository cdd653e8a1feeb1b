//! Types of messages, and whether two messages are the same by another implementation of protocol
//! buffers.

#![expect(clippy::panic, reason = "tests")]

use celero::messages::Descriptors;
use prost_reflect::prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor};
use std::path::Path;
use std::sync::{LazyLock, OnceLock};

/// What a suite's messages are read with: celero's descriptors, and those of the judge.
#[derive(Debug)]
pub struct Types {
    /// celero's.
    pub types: Descriptors,
    judge: DescriptorPool,
    /// Both as a `FileDescriptorSet`.
    pub bytes: Vec<u8>,
}

impl Types {
    fn new(bytes: Vec<u8>) -> Result<Self, String> {
        let types = Descriptors::from_bytes(&bytes).map_err(|error| error.to_string())?;
        let judge = DescriptorPool::decode(bytes.as_slice()).map_err(|error| error.to_string())?;
        Ok(Self { types, judge, bytes })
    }

    /// A type of the judge.
    #[must_use]
    pub fn message(&self, name: &str) -> Option<MessageDescriptor> {
        self.judge.get_message_by_name(name)
    }
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
    let types = Types::new(bytes).map_err(|error| format!("{}: {error}", file.display()))?;
    let _ = TYPES.set(types);
    Ok(())
}

/// The types of the suite; without its descriptors only those of `google.protobuf`.
pub fn types() -> &'static Types {
    TYPES.get_or_init(|| Types { types: Descriptors::well_known(), judge: DescriptorPool::global(), bytes: Vec::new() })
}

/// The types of `tests/messages`: packages in `test`, with a field of every kind.
///
/// # Panics
/// The files are wrong.
pub fn own() -> &'static Types {
    static OWN: LazyLock<Types> = LazyLock::new(|| {
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/messages");
        let files = protox::compile(["three.proto", "two.proto"], [dir]).unwrap_or_else(|error| panic!("{error}"));
        Types::new(files.encode_to_vec()).unwrap_or_else(|error| panic!("{error}"))
    });
    &OWN
}

/// The types among which this one is.
#[must_use]
pub fn of(name: &str) -> &'static Types {
    if name.starts_with("test.") { own() } else { types() }
}

/// Whether two messages are the same, by the judge: unknown fields and the order of fields do not
/// count.
#[must_use]
pub fn same(name: &str, one: &[u8], other: &[u8]) -> bool {
    // The judge reads no malformed ones.
    if one == other {
        return true;
    }
    let Some(ty) = of(name).message(name) else { return false };
    let decode = |bytes: &[u8]| DynamicMessage::decode(ty.clone(), bytes).ok();
    decode(one).zip(decode(other)).is_some_and(|(one, other)| one == other)
}
