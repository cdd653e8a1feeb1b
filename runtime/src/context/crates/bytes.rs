//! The crate `bytes`: `bytes`, read in place.

use crate::context::text::{texts, viewed};
use bytes::{Bytes, BytesMut};
use celero_ir::Ty;

texts! {
    [] Bytes: Bytes, Bytes, Bytes, |bytes| bytes, viewed::<Self>(Ty::Bytes, false);
    [] BytesMut: Bytes, Bytes, Bytes, |bytes| bytes, viewed::<Self>(Ty::Bytes, false);
}
