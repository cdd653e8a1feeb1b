use celero::{Context, FieldType};

struct Own;

fn number(_: &Own) -> i64 {
    1
}

fn list(_: &Own) -> Vec<Own> {
    Vec::new()
}

#[derive(Context)]
struct Result {
    #[context(with = list)]
    field: Own,
}

#[derive(Context)]
struct Parameter {
    #[context(with = number)]
    field: u8,
}

#[derive(Context)]
struct Missing {
    #[context(with = nowhere)]
    field: Own,
}

#[derive(FieldType)]
#[context(with = list)]
struct Whole(Own, Own);

fn main() {}
