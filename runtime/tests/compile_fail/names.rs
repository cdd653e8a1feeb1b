use celero::Context;

#[derive(Context)]
struct Twice {
    a: u8,
    #[context(name = "a")]
    b: u8,
}

#[derive(Context)]
struct Dash {
    #[context(name = "user-agent")]
    agent: u8,
}

#[derive(Context)]
struct Reserved {
    r#while: u8,
}

fn main() {}
