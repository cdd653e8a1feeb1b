use celero::{Context, Env, FieldType};

#[derive(FieldType)]
enum Nothing {}

#[derive(FieldType)]
#[context(as = "int")]
enum Data {
    A(u8),
}

#[derive(FieldType)]
#[context(as = "number")]
enum Form {
    A,
}

#[derive(FieldType)]
#[context(rename_all = "lower")]
enum Case {
    A,
}

#[derive(FieldType)]
#[context(rename_all = "lowercase")]
enum Twice {
    Ab,
    AB,
}

#[derive(FieldType)]
#[context(as = "int", rename_all = "lowercase")]
enum Useless {
    A,
}

#[derive(FieldType)]
enum Variant {
    #[context(rename = "b")]
    A,
}

#[derive(FieldType)]
struct Two(u8, u8);

#[derive(FieldType)]
#[context(as = "int")]
struct One(u8);

#[derive(FieldType)]
#[context(prefix = "a")]
struct Unknown(u8);

#[derive(Context)]
struct Uses {
    data: Data,
    form: Vec<Form>,
    two: Two,
}

fn main() {
    let _ = Env::<Uses>::new();
}
