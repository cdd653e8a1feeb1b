//! The crate `url`: the text of a URL, read in place.

use crate::context::text::{texts, viewed};
use celero_ir::Ty;
use url::Url;

texts! {
    [] Url: String, Str, String, |url| url.as_str().as_bytes(), viewed::<Self>(Ty::Str, false);
}
