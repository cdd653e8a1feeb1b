//! Descriptors that are built by hand, field by field of `descriptor.proto`.

use super::*;
use crate::wire::{Payload, Sink};

/// A message of descriptors, field by field.
#[derive(Clone, Default)]
struct Built(Vec<u8>);

impl Built {
    fn number(mut self, field: u32, value: u64) -> Self {
        let Ok(()) = self.0.record(field, Payload::Varint(value));
        self
    }

    fn text(self, field: u32, text: &str) -> Self {
        self.inside(field, Self(text.as_bytes().to_vec()))
    }

    fn inside(mut self, field: u32, inner: Self) -> Self {
        let Ok(()) = self.0.record(field, Payload::Bytes(&inner.0));
        self
    }
}

fn new() -> Built {
    Built::default()
}

/// A field: name, number, label, type.
fn field(name: &str, number: u64, label: u64, ty: u64) -> Built {
    new().text(1, name).number(3, number).number(4, label).number(5, ty)
}

/// A message `a.M` with these fields in a file of this syntax.
fn file(syntax: &str, edition: u64, fields: &[Built]) -> Built {
    let message = fields.iter().fold(new().text(1, "M"), |message, field| message.inside(2, field.clone()));
    let file = new().text(1, "a.proto").text(2, "a").inside(4, message).text(12, syntax);
    if edition == 0 { file } else { file.number(14, edition) }
}

fn read(file: Built) -> Result<Descriptors, String> {
    Descriptors::from_bytes(&new().inside(1, file).0).map_err(|error| error.to_string())
}

#[test]
fn the_well_known_types_are_always_there() {
    for types in [Descriptors::well_known(), read(file("proto3", 0, &[])).unwrap()] {
        let count = types.messages().filter(|message| message.well_known().is_some()).count();
        assert_eq!(count, 15);
        let structure = types.message("google.protobuf.Struct").unwrap();
        let fields = structure.field("fields").unwrap();
        assert_eq!(fields.cardinality(), Cardinality::Map);
        let (key, value) = types.entry_of(fields).unwrap();
        assert_eq!(key.kind(), Kind::Scalar(Scalar::String));
        assert_eq!(types.message_of(value).unwrap().well_known(), Some(WellKnown::Value));
    }
}

/// Presence, packing and delimiting of a field, by syntax, edition and features ("Feature Settings
/// for Editions").
#[test]
fn features_follow_the_syntax_the_file_and_the_field() {
    let number = || field("f", 1, 1, 5);
    let numbers = || field("f", 1, 3, 5);
    let with = |field: Built, set: Built| field.inside(8, new().inside(21, set));
    let of = |file: Built| {
        let types = read(file).unwrap();
        let field = types.message("a.M").unwrap().field("f").unwrap();
        (field.has_presence(), field.is_packed())
    };
    assert_eq!(of(file("proto2", 0, &[number()])), (true, false));
    assert_eq!(of(file("proto3", 0, &[number()])), (false, false));
    assert_eq!(of(file("proto3", 0, &[number().number(17, 1).number(9, 0)])), (true, false));
    assert_eq!(of(file("proto3", 0, &[number().number(9, 0)])), (true, false), "in a oneof");
    assert_eq!(of(file("editions", 1000, &[number()])), (true, false));
    assert_eq!(of(file("editions", 1001, &[with(number(), new().number(1, 2))])), (false, false));
    assert_eq!(of(file("editions", 1000, &[number()]).inside(8, new().inside(50, new().number(1, 2)))), (false, false));
    assert_eq!(of(file("proto2", 0, &[numbers()])), (false, false));
    assert_eq!(of(file("proto2", 0, &[numbers().inside(8, new().number(2, 1))])), (false, true));
    assert_eq!(of(file("proto3", 0, &[numbers()])), (false, true));
    assert_eq!(of(file("proto3", 0, &[numbers().inside(8, new().number(2, 0))])), (false, false));
    assert_eq!(of(file("editions", 1000, &[numbers()])), (false, true));
    assert_eq!(of(file("editions", 1000, &[with(numbers(), new().number(3, 2))])), (false, false));
    let own = field("f", 1, 1, 11).text(6, ".a.M");
    let delimited = read(file("editions", 1000, &[with(own.clone(), new().number(5, 2))])).unwrap();
    assert!(matches!(delimited.message("a.M").unwrap().field("f").unwrap().kind(), Kind::Group(_)));
    let prefixed = read(file("editions", 1000, &[own])).unwrap();
    assert!(matches!(prefixed.message("a.M").unwrap().field("f").unwrap().kind(), Kind::Message(_)));
}

#[test]
fn enums_are_closed_in_proto2_and_by_feature() {
    let value = |name: &str, number: u64| new().text(1, name).number(2, number);
    let colour = new().text(1, "E").inside(2, value("A", 0)).inside(2, value("B", u64::MAX));
    let of = |syntax: &str, edition, colour: &Built| {
        let types = read(file(syntax, edition, &[]).inside(5, colour.clone())).unwrap();
        let colour = types.enumeration("a.E").unwrap();
        assert_eq!((colour.number("B"), colour.number("C")), (Some(-1), None));
        assert!(colour.accepts(-1));
        colour.accepts(7)
    };
    assert!(!of("proto2", 0, &colour));
    assert!(of("proto3", 0, &colour));
    assert!(of("editions", 1000, &colour));
    assert!(!of("editions", 1000, &colour.clone().inside(3, new().inside(7, new().number(2, 2)))));
}

#[test]
fn methods_have_the_path_of_their_calls() {
    let method = new().text(1, "Do").text(2, ".a.M").text(3, ".a.M").number(6, 1);
    let types = read(file("proto3", 0, &[]).inside(6, new().text(1, "S").inside(2, method))).unwrap();
    let found = types.method("/a.S/Do").unwrap();
    assert_eq!((&*found.request, found.client_streaming, found.server_streaming), ("a.M", false, true));
}

#[test]
fn an_extension_is_a_field_with_its_full_name() {
    let more = field("more", 100, 1, 5).text(2, ".a.M");
    let types = read(file("proto2", 0, &[]).inside(7, more.clone())).unwrap();
    let extension = types.message("a.M").unwrap().field("a.more").unwrap();
    assert!(extension.number() == 100 && extension.has_presence());
    let lost = read(file("proto2", 0, &[]).inside(7, field("more", 100, 1, 5).text(2, ".a.N")));
    assert_eq!(lost.unwrap_err(), "extension `a.more` extends `a.N`, which is not in the set");
}

#[test]
fn what_is_wrong_is_named() {
    let deep = (0..70).fold(new().text(1, "D"), |inner, _| new().text(1, "D").inside(3, inner));
    let cases = [
        (file("proto4", 0, &[]), "file `a.proto`: syntax \"proto4\" is unknown"),
        (file("editions", 900, &[]), "file `a.proto`: edition 900 is unknown"),
        (file("proto3", 0, &[field("f", 0, 1, 5)]), "message `a.M`: field `f` has a number that no field can have"),
        (file("proto3", 0, &[field("f", 1, 1, 19)]), "field `a.M.f`: type 19 is unknown"),
        (
            file("proto3", 0, &[field("f", 1, 1, 11).text(6, ".a.N")]),
            "message `a.M`: field `f` is of the type `a.N`, which is not in the set",
        ),
        (file("proto3", 0, &[field("f", 1, 1, 5), field("f", 2, 1, 5)]), "message `a.M` has two fields `f`"),
        (file("proto3", 0, &[field("f", 1, 1, 5), field("g", 1, 1, 5)]), "message `a.M` has two fields of number 1"),
        (
            file("proto2", 0, &[field("f", 1, 1, 5).text(7, "x")]),
            "message `a.M`: field `f` has a default that is none of its type",
        ),
        (file("proto3", 0, &[]).inside(4, new().text(1, "M")), "`a.M` is declared twice"),
    ];
    for (file, error) in cases {
        assert_eq!(read(file).unwrap_err(), error);
    }
    let error = read(file("proto3", 0, &[]).inside(4, deep)).unwrap_err();
    assert!(error.ends_with("is more than 64 levels inside others"), "{error}");
    let bytes = Descriptors::from_bytes(&[0x0a, 5, 1]).unwrap_err();
    assert_eq!(bytes.to_string(), "these bytes are no file descriptor set: the message ends inside a field");
    assert!(Descriptors::from_bytes(&[]).is_ok());
}
