use celero::{Context, Env, FieldType};
use std::collections::HashMap;

#[derive(FieldType)]
struct Tree(Vec<Tree>);

#[derive(FieldType)]
struct Chain(Option<Box<Chain>>);

#[derive(FieldType)]
struct Even(HashMap<String, Odd>);

#[derive(FieldType)]
struct Odd(Box<[Even]>);

// A struct may contain itself in a list or a map.
#[derive(Context)]
struct Node {
    children: Vec<Node>,
    by_name: HashMap<String, Node>,
}

fn main() {
    let _ = Env::<Node>::new();
}
