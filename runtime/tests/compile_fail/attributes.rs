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

#[derive(Context)]
#[context(prefix)]
struct Valueless {
    a: u8,
}

#[derive(Context)]
#[context(prefix = "request.")]
struct Pointed {
    a: u8,
}

#[derive(Context)]
struct Values {
    #[context(name = ip)]
    a: u8,
    #[context(skip = true)]
    b: u8,
    #[context(name = "c", name = "d")]
    c: u8,
}

fn main() {}
