//! Calls through the table: each function with its edges, and the choice of overloads. What all of them use is here.

mod bounds;
mod calibration;
mod containers;
mod scalars;

use crate::arena::{Arena, EvalResult};
use crate::cx::Cx;
use crate::library::{accepts, form_of, helper_functions as helpers, invoke};
use crate::value::message::Message;
use crate::value::{Duration, HostList, HostMap, List, Map, MapBuilder, Timestamp, Value};
use celero_frontend::stdlib::{Builtin, Libraries, Row, TABLE};
use celero_frontend::{Overload, Type};
use celero_ir::ErrorKind;
use celero_ir::ErrorKind::{
    DivideByZero, DuplicateKey, InvalidArgument, ModulusByZero, NoSuchField, NoSuchKey, NoSuchOverload, OutOfBudget,
    Overflow,
};
use celero_protobuf::Descriptors;
use std::net::IpAddr;

/// Calls a function by its name, as unchecked code does: all its overloads are candidates.
fn call<'a>(cx: &Cx<'a>, name: &str, args: &[Value<'a>]) -> EvalResult<Value<'a>> {
    let overloads: Vec<Builtin> = TABLE
        .signatures(name, Libraries::default())
        .filter_map(|signature| match signature.overload {
            Overload::Builtin(builtin) => Some(builtin),
            Overload::Host(_) | Overload::Defined(_) => None,
        })
        .collect();
    assert!(!overloads.is_empty(), "{name}");
    match overloads.into_iter().find(|builtin| accepts(*builtin, args)) {
        Some(builtin) => invoke(cx, builtin, args),
        None => Err(NoSuchOverload),
    }
}

/// Asserts that a call gives a value of the very same type (NaN included) or this error.
fn check<'a>(cx: &Cx<'a>, name: &str, args: &[Value<'a>], want: EvalResult<Value<'a>>) {
    let got = call(cx, name, args);
    assert_eq!(format!("{got:?}"), format!("{want:?}"), "{name} {args:?}");
}

fn with(test: impl for<'a> FnOnce(&Cx<'a>)) {
    let arena = Arena::new(1 << 20);
    test(&Cx::new(1_000_000, &arena));
}

fn list<'a>(cx: &Cx<'a>, elements: &[Value<'a>]) -> Value<'a> {
    Value::List(List::Slice(cx.arena().alloc_slice(elements).unwrap()))
}

fn map<'a>(cx: &Cx<'a>, entries: &[(Value<'a>, Value<'a>)]) -> Value<'a> {
    let mut builder = MapBuilder::new(cx.arena(), entries.len()).unwrap();
    for (key, value) in entries {
        builder.insert(*key, *value).unwrap();
    }
    Value::Map(builder.finish(cx).unwrap())
}

fn some<'a>(cx: &Cx<'a>, value: Value<'a>) -> Value<'a> {
    Value::Optional(Some(cx.arena().alloc(value).unwrap()))
}

fn at(text: &str) -> Value<'static> {
    Value::Timestamp(Timestamp::parse(text).unwrap())
}

fn span(text: &str) -> Value<'static> {
    Value::Duration(Duration::parse(text).unwrap())
}

const NONE: Value<'_> = Value::Optional(None);
use Value::{Bool as B, Bytes as Y, Double as D, Int as I, Null as N, String as S, Uint as U};

/// A value of each type.
fn one_of_each_type<'a>(cx: &Cx<'a>) -> Vec<Value<'a>> {
    let types: &'a Descriptors = cx.arena().keep(Descriptors::well_known()).unwrap();
    let message = Message::new(types, "google.protobuf.Struct.FieldsEntry", &[]).unwrap();
    // {"alg":"a"} and {"iss":"a","sub":"b","aud":"c","exp":1,"iat":1}
    let text = "eyJhbGciOiJhIn0.eyJpc3MiOiJhIiwic3ViIjoiYiIsImF1ZCI6ImMiLCJleHAiOjEsImlhdCI6MX0";
    let Ok(Value::Optional(Some(token))) = call(cx, "jwt.parse", &[S(text)]) else { panic!("this is a token") };
    vec![
        Value::Message(cx.arena().alloc(message).unwrap()),
        *token,
        Value::Null,
        Value::Bool(true),
        Value::Int(1),
        Value::Uint(1),
        Value::Double(1.0),
        Value::String("1"),
        Value::Bytes(b"1"),
        Value::Duration(Duration(1)),
        Value::Timestamp(Timestamp::default()),
        Value::Type("int"),
        Value::Ip(IpAddr::from([127, 0, 0, 1])),
        Value::Cidr(IpAddr::from([127, 0, 0, 1]), 8),
        list(cx, &[]),
        map(cx, &[]),
        some(cx, list(cx, &[])),
    ]
}

/// What a call with the operands' types skips, the choice of an overload, the function itself repeats:
/// arguments that a builtin does not accept are no such overload, and cost nothing.
#[test]
fn functions_refuse_what_their_overloads_do_not_accept() {
    with(|cx| {
        let values = one_of_each_type(cx);
        let mut refused = 0;
        for row in TABLE.rows() {
            let fitting = |param| values.iter().find(|value| value.fits(param)).copied();
            let args: Vec<Value<'_>> = row.params.iter().map(|param| fitting(param).unwrap()).collect();
            for (place, value) in (0..args.len()).flat_map(|place| values.iter().map(move |value| (place, *value))) {
                let mut args = args.clone();
                args[place] = value;
                if !accepts(row.builtin, &args) {
                    let left = cx.left();
                    let got = invoke(cx, row.builtin, &args);
                    assert!(matches!(got, Err(NoSuchOverload)), "{:?} {args:?}: {got:?}", row.builtin);
                    assert_eq!(cx.left(), left, "{:?} {args:?}", row.builtin);
                    refused += 1;
                }
            }
        }
        assert!(refused > 4_000, "{refused}");
    });
}

/// What runs code of the host needs a frame, which says that this code panicked.
#[test]
fn functions_without_a_frame_read_no_list_or_map() {
    let reads = |row: &&Row| row.params.iter().any(|param| matches!(param, Type::List(_) | Type::Map(_)));
    for row in TABLE.rows().iter().filter(reads) {
        assert!(form_of(row.builtin).needs_frame(), "{:?}", row.builtin);
    }
}

/// Native code calls functions of scalars that give a scalar first without memory
/// (`EntryAbi::BaseFrame`); a function that needs some would be called twice.
#[test]
fn functions_of_scalars_need_no_memory() {
    let arena = Arena::new(0);
    let cx = Cx::new(1_000_000, &arena);
    let scalars: [Value<'static>; 8] = [
        Value::Bool(true),
        Value::Int(1),
        Value::Uint(1),
        Value::Double(1.0),
        Value::Duration(Duration(1)),
        Value::Timestamp(Timestamp::default()),
        Value::Bytes(b"1"),
        Value::String("1"),
    ];
    let texts = ["1", "true", "::1", "10.0.0.1", "10.0.0.0/8", "UTC", "1h", "2023-11-14T22:13:20Z"];
    let mut called = 0;
    for row in TABLE.rows() {
        let of_type = |param| scalars.iter().find(|value| value.fits(param)).copied();
        let is_text = |ty| Value::String("").fits(ty) || Value::Bytes(b"").fits(ty);
        let args: Option<Vec<Value<'static>>> = row.params.iter().map(of_type).collect();
        let args = args.filter(|_| row.params.iter().all(|param| !Value::Null.fits(param)));
        let (Some(args), Some(_), false) = (args, of_type(&row.result), is_text(&row.result)) else { continue };
        for text in texts {
            let with_text = |arg: &Value<'static>| match arg {
                Value::String(_) => Value::String(text),
                other => *other,
            };
            let args: Vec<Value<'_>> = args.iter().map(with_text).collect();
            let got = invoke(&cx, row.builtin, &args);
            assert!(!matches!(got, Err(OutOfBudget)), "{:?} {args:?}", row.builtin);
            called += 1;
        }
    }
    assert!(called > 1_000, "{called}");
}
