use celero::host::Element;
use celero::{Context, Env, FieldType};
use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;

struct Own;

#[derive(Context)]
struct Field<'a> {
    single: Own,
    borrowed: &'a Mutex<u8>,
    maybe: Option<std::path::PathBuf>,
}

#[derive(Context)]
struct Collections {
    list: Vec<Own>,
    keys: BTreeMap<(u8, u8), u8>,
}

#[derive(FieldType)]
struct Newtype(Own);

#[derive(Context)]
struct Single {
    #[context(nested)]
    number: u64,
}

#[derive(Context)]
struct Generic<T> {
    value: T,
}

fn main() {
    let _ = Env::<Field>::new();
    let _ = Env::<Generic<Own>>::new();
}
