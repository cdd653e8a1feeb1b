//! Messages of protocol buffers by their descriptors, read in place from their wire bytes.
//!
//! [`Descriptors`] are read once from the bytes of a `FileDescriptorSet`. A [`MessageType`] has the
//! [fields](Field) by name and by number, extensions of it among them. [`Records`] reads a message,
//! [`Sink`] writes one.
//!
//! ```
//! use celero_protobuf::{Descriptors, Payload, Records};
//!
//! let types = Descriptors::well_known(); // those of google.protobuf
//! let timestamp = types.message("google.protobuf.Timestamp").ok_or("missing")?;
//! let seconds = timestamp.field("seconds").ok_or("missing")?;
//! let mut records = Records::new(&[0x08, 0x2a]);
//! let record = records.next().ok_or("empty")??;
//! assert_eq!((record.number, record.payload), (seconds.number(), Payload::Varint(42)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod descriptors;
mod fields;
mod wire;

pub use descriptors::{
    Cardinality, Default, DescriptorError, Descriptors, EnumType, Field, Kind, MessageType, Method, Scalar, WellKnown,
    lower_camel_case,
};
pub use fields::{FieldValue, Found, Part, ScalarValue};
pub use wire::{MAX_DEPTH, MAX_NUMBER, Payload, Record, Records, Sink, WireError};
