use celero::{Context, Env};

#[derive(Context)]
enum Choice {
    A,
}

#[derive(Context)]
struct Newtype(u8);

#[derive(Context)]
struct Tuple(u8, u8);

fn main() {
    let _ = (Env::<Choice>::new(), Env::<Newtype>::new());
}
