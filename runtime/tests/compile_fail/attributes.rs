use celero::Context;

#[derive(Context)]
struct Unknown {
    #[context(rename = "b")]
    a: u8,
}

#[derive(Context)]
#[context(rename_all = "kebab-case")]
struct Case {
    a: u8,
}

#[derive(Context)]
struct Contradiction {
    #[context(skip, nested)]
    a: u8,
}

#[derive(Context)]
struct Nameless {
    #[context(skip, name = "b")]
    a: u8,
}

#[derive(Context)]
struct Function {
    #[context(with = 5)]
    a: u8,
    #[context(with = f, nested)]
    b: u8,
}

fn main() {}
