use celero::Context;

#[derive(Context)]
enum Choice {
    A,
}

#[derive(Context)]
struct Tuple(u8);

#[derive(Context)]
struct Generic<T> {
    value: T,
}

fn main() {}
