//! Structs inside structs: variables behind options and pointers, maps in lists and maps; generic contexts.

use crate::field_types::results;
use crate::layout::{agree, show};
use celero::host::Element;
use celero::{Context, Env, FieldType};
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::Arc;

/// Not `Debug`: neither contexts nor elements need be.
#[derive(Context, Clone)]
#[context(rename_all = "camelCase")]
struct Peer {
    server_name: String,
    #[context(name = "tls.version")]
    version: Option<u16>,
    #[context(name = "tls.resumed")]
    resumed: bool,
    socket: SocketAddr,
}

fn peer(name: &str, version: Option<u16>) -> Peer {
    let socket = SocketAddr::from(([10, 0, 0, 7], 443));
    Peer { server_name: name.to_owned(), version, resumed: version.is_some(), socket }
}

#[derive(Context)]
struct Call<'a> {
    pad: u8,
    peer: Peer,
    boxed: Box<Peer>,
    shared: Arc<Peer>,
    borrowed: &'a Peer,
    maybe: Option<Peer>,
    maybe_shared: Option<Arc<Peer>>,
    #[context(flatten)]
    flat: Option<Box<Last>>,
}

#[derive(Context)]
struct Last {
    last: i64,
}

/// A function of the host that panics concerns only rules that read its field.
#[test]
fn a_field_is_found_without_reading_the_others() {
    #[derive(Context)]
    struct Item {
        id: i64,
        #[context(with = fails)]
        price: u8,
    }
    #[derive(Context)]
    struct Cart {
        items: Vec<Item>,
    }
    fn fails(_: &u8) -> i64 {
        panic!("on purpose")
    }
    let cart = Cart { items: vec![Item { id: 1, price: 9 }] };
    results(&cart, &[("items[0].id == 1", "Bool(true)"), ("items[0].price == 1", "host")]);
}

#[test]
fn structs_inside_are_variables() {
    let inner = peer("borrowed", Some(3));
    let call = |maybe: Option<Peer>| Call {
        pad: 1,
        peer: peer("own", Some(1)),
        boxed: Box::new(peer("boxed", None)),
        shared: Arc::new(peer("shared", Some(2))),
        borrowed: &inner,
        flat: maybe.is_some().then(|| Box::new(Last { last: 9 })),
        maybe_shared: maybe.clone().map(Arc::new),
        maybe,
    };
    let names: Vec<_> = Call::fields().into_iter().map(|field| field.name).collect();
    assert!(names.join(" ").starts_with(
        "pad peer.serverName peer.tls.version peer.tls.resumed peer.socket.address peer.socket.port boxed.serverName"
    ));
    assert_eq!(names.last().map(String::as_str), Some("last"));
    assert!(Env::<Call<'_>>::new().problems().is_empty());
    let full = call(Some(peer("maybe", Some(4))));
    assert_eq!(
        agree(&full).join(" "),
        "pad peer.serverName peer.tls.version peer.tls.resumed peer.socket.address peer.socket.port \
         boxed.serverName boxed.tls.version boxed.tls.resumed boxed.socket.address boxed.socket.port \
         shared.serverName shared.tls.version shared.tls.resumed shared.socket.address shared.socket.port \
         borrowed.serverName borrowed.tls.version borrowed.tls.resumed borrowed.socket.address \
         borrowed.socket.port maybe_shared.serverName maybe_shared.tls.version maybe_shared.tls.resumed \
         maybe_shared.socket.address maybe_shared.socket.port last"
    );
    results(
        &full,
        &[
            (
                "peer.serverName + boxed.serverName + shared.serverName + borrowed.serverName",
                "String(\"ownboxedsharedborrowed\")",
            ),
            ("maybe.serverName + maybe_shared.serverName", "String(\"maybemaybe\")"),
            ("cidr('10.0.0.0/8').containsIP(shared.socket.address) && shared.socket.port == 443", "Bool(true)"),
            ("maybe.socket.address + maybe_shared.socket.address", "String(\"10.0.0.710.0.0.7\")"),
            ("maybe.tls.version + maybe_shared.tls.version + borrowed.tls.version", "Uint(11)"),
            ("has(boxed.tls.version) || !has(maybe.tls.version)", "Bool(false)"),
            ("last", "Int(9)"),
        ],
    );
    let empty = call(None);
    assert_eq!(agree(&empty), agree(&full));
    results(
        &empty,
        &[
            ("has(maybe.serverName) || has(maybe_shared.socket.port)", "Bool(false)"),
            ("maybe.serverName", "no_such_key"),
            ("maybe_shared.tls.resumed", "no_such_key"),
            ("last", "no_such_key"),
        ],
    );
    assert_eq!(show(&empty, "maybe.socket.address"), "absent");
}

#[derive(Context)]
#[context(prefix = "call")]
struct Lists {
    peers: Vec<Peer>,
    by_name: HashMap<String, Arc<Peer>>,
    groups: BTreeMap<u8, Vec<Outer>>,
    maybe: Option<Vec<Peer>>,
    sockets: Vec<SocketAddr>,
}

#[derive(Context)]
struct Outer {
    id: u32,
    inner: Peer,
    maybe: Option<Peer>,
    #[context(flatten)]
    flat: Last,
    #[context(name = "tls.other")]
    other: bool,
    #[context(name = "tls.more")]
    more: Option<bool>,
}

fn outer(id: u32) -> Outer {
    let maybe = (id > 1).then(|| peer("inside", None));
    Outer {
        id,
        inner: peer("inner", Some(5)),
        maybe,
        flat: Last { last: -1 },
        other: true,
        more: (id > 1).then_some(true),
    }
}

#[test]
fn structs_in_lists_and_maps_are_maps() {
    let lists = Lists {
        peers: vec![peer("a", Some(1)), peer("b", None)],
        by_name: [("x".to_owned(), Arc::new(peer("y", Some(2))))].into(),
        groups: [(1, vec![outer(1), outer(2)])].into(),
        maybe: Some(vec![peer("z", None)]),
        sockets: vec![SocketAddr::from(([192, 0, 2, 1], 1))],
    };
    let types: Vec<_> = Lists::fields().into_iter().map(|field| format!("{}: {}", field.name, field.ty)).collect();
    assert_eq!(
        types.join(", "),
        "call.peers: list(map(string, dyn)), call.by_name: map(string, map(string, dyn)), \
         call.groups: map(uint, list(map(string, dyn))), call.maybe: list(map(string, dyn)), \
         call.sockets: list(map(string, dyn))"
    );
    results(
        &lists,
        &[
            ("call.peers[0].serverName + call.by_name.x.serverName + call.maybe[0].serverName", "String(\"ayz\")"),
            ("call.peers.exists(p, p.serverName == 'b')", "Bool(true)"),
            ("call.peers.filter(p, has(p.tls.version)).map(p, p.tls.version)", "List(Slice([Uint(1)]))"),
            ("call.peers[0].tls.resumed && !call.peers[1].tls.resumed", "Bool(true)"),
            ("call.peers[1].tls.version", "no_such_key"),
            ("call.peers[0].socket.address", "String(\"10.0.0.7\")"),
            ("call.peers[0]['nothing']", "no_such_key"),
            ("dyn(1) in call.peers[0]", "Bool(false)"),
            ("size(call.peers[0]) == 3 && size(call.peers[0].tls) == 2 && size(call.peers[1].tls) == 1", "Bool(true)"),
            ("call.peers[0].all(name, name in ['serverName', 'tls', 'socket'])", "Bool(true)"),
            (
                "call.peers[1] == {'serverName': 'b', 'tls': {'resumed': false}, 'socket': {'address': '10.0.0.7', 'port': 443}}",
                "Bool(true)",
            ),
            ("call.peers[0] == call.peers[1]", "Bool(false)"),
            ("call.groups[1u][1].maybe.serverName + call.groups[1u][0].inner.serverName", "String(\"insideinner\")"),
            ("has(call.groups[1u][0].maybe) || !has(call.groups[1u][1].maybe.socket.port)", "Bool(false)"),
            ("call.groups[1u].map(o, size(o))", "List(Slice([Int(4), Int(5)]))"),
            ("call.groups[1u].map(o, size(o.tls))", "List(Slice([Int(1), Int(2)]))"),
            ("call.groups[1u][0].last", "Int(-1)"),
            (
                "call.groups[1u][1].map(name, name)",
                "List(Slice([String(\"id\"), String(\"inner\"), String(\"maybe\"), String(\"last\"), String(\"tls\")]))",
            ),
            ("call.sockets[0].address + ':' + string(call.sockets[0].port)", "String(\"192.0.2.1:1\")"),
        ],
    );
}

/// A tree: a list ends the recursion of types.
#[derive(Context)]
struct Node {
    name: String,
    children: Vec<Node>,
}

#[test]
fn lists_of_the_same_struct_are_trees() {
    let leaf = |name: &str| Node { name: name.to_owned(), children: Vec::new() };
    let tree = Node { children: vec![leaf("a"), Node { children: vec![leaf("c")], ..leaf("b") }], ..leaf("root") };
    results(
        &tree,
        &[("name + children[1].children[0].name", "String(\"rootc\")"), ("children[0].children", "List(Host([]))")],
    );
}

#[derive(Context)]
struct Generic<'a, T, U: Clone, const N: usize>
where
    U: Element,
{
    pad: u8,
    value: T,
    list: Vec<U>,
    array: [U; N],
    text: &'a str,
    pair: Two<T>,
    #[context(skip)]
    _skipped: std::marker::PhantomData<fn(T)>,
}

#[derive(Context)]
struct Two<T> {
    one: T,
    two: Option<T>,
}

#[test]
fn contexts_may_be_generic() {
    fn context<T: Clone, U: Element + Clone>(value: T, element: U) -> Generic<'static, T, U, 2> {
        Generic {
            pad: 3,
            value: value.clone(),
            list: vec![element.clone()],
            array: [element.clone(), element],
            text: "text",
            pair: Two { one: value.clone(), two: Some(value) },
            _skipped: std::marker::PhantomData,
        }
    }
    let numbers = context(7_i64, "x".to_owned());
    assert_eq!(agree(&numbers).join(" "), "pad value text pair.one pair.two");
    results(
        &numbers,
        &[("value + pair.one + pair.two", "Int(21)"), ("list[0] + array[1] + text", "String(\"xxtext\")")],
    );
    let structs = context(Last { last: 5 }.last, 2.5_f64);
    results(&structs, &[("list[0] + array[0] + double(value)", "Double(10.0)")]);
    let nested = Generic {
        value: Arc::new(Peer::clone(&peer("n", None))),
        pair: Two { one: Arc::new(peer("o", None)), two: None },
        ..generic()
    };
    results(
        &nested,
        &[("value.serverName + pair.one.serverName", "String(\"no\")"), ("has(pair.two.serverName)", "Bool(false)")],
    );
}

fn generic() -> Generic<'static, Arc<Peer>, bool, 1> {
    let one = Arc::new(peer("", None));
    Generic {
        pad: 0,
        value: one.clone(),
        list: vec![true],
        array: [false],
        text: "",
        pair: Two { one, two: None },
        _skipped: std::marker::PhantomData,
    }
}

#[test]
fn a_struct_is_a_field_type() {
    assert_eq!(<Peer as FieldType>::ty().to_string(), "map(string, dyn)");
    assert_eq!(<Option<Box<Peer>> as FieldType>::COUNT, 5);
}
