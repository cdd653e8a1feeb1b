use celero::{Context, Env, FieldType};
use celero::host::Extension;
use std::sync::Arc;

#[derive(Context)]
struct Plain {
    path: String,
    extension: Extension,
}

#[derive(Context)]
struct Behind<'a> {
    path: &'a str,
    extension: Arc<Extension>,
}

#[derive(Context)]
struct Call {
    path: String,
    #[context(flatten)]
    extension: Extension,
}

#[derive(Context)]
struct Outer<'a> {
    call: &'a Call,
}

#[derive(Context)]
struct Optional {
    #[context(flatten)]
    extension: Option<Extension>,
}

#[derive(FieldType)]
struct Own(Extension);

#[derive(Context)]
struct Newtype {
    own: Own,
}

// These are right.
#[derive(Context)]
struct Right<'a> {
    #[context(nested)]
    call: &'a Call,
}

#[derive(Context)]
struct Hidden {
    path: String,
    #[context(skip)]
    extension: Extension,
}

fn main() {
    let _ = (Env::<Right<'_>>::new(), Env::<Hidden>::new());
}
