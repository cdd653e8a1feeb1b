//! The messages of `cel/expr/syntax.proto` and `cel/expr/checked.proto`: one table, from which the binary form and the
//! JSON form are read and written.

/// A message type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    ParsedExpr,
    CheckedExpr,
    Expr,
    Ident,
    Select,
    Call,
    CreateList,
    CreateStruct,
    Entry,
    Comprehension,
    Constant,
    SourceInfo,
    Extension,
    Version,
    Reference,
    Type,
    ListType,
    MapType,
    FunctionType,
    AbstractType,
    /// `google.protobuf.Empty`
    Empty,
    // The entries of maps: the key is the field 1, the value the field 2.
    PositionEntry,
    MacroCallEntry,
    ReferenceEntry,
    TypeEntry,
}

/// The type of a field's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int32,
    Int64,
    Uint64,
    Double,
    Text,
    Bytes,
    /// The names of the values, from 0 on.
    Enum(&'static [&'static str]),
    /// `google.protobuf.NullValue`, which is `null` in JSON.
    Null,
    Message(Shape),
}

/// How many values a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    /// One without presence, which is not written when it is zero; a message: one or none.
    One,
    /// One of the alternatives of this message: it is written even when it is zero.
    Alternative,
    /// Any number.
    Many,
    /// Any number of entries; in JSON one object, whose keys are texts.
    Map,
}

/// A field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) number: u32,
    /// The name in the `.proto` file, which readers of JSON accept too.
    pub(super) name: &'static str,
    pub(super) json: &'static str,
    pub(super) kind: Kind,
    pub(super) label: Label,
}

const fn field(number: u32, name: &'static str, json: &'static str, kind: Kind, label: Label) -> Field {
    Field { number, name, json, kind, label }
}

macro_rules! message {
    ($($number:literal $name:literal $json:literal $kind:expr, $label:ident;)*) => {
        const { &[$(field($number, $name, $json, $kind, Label::$label)),*] }
    };
}

use Kind::{Bool, Bytes, Double, Enum, Int32, Int64, Message, Null, Text, Uint64};

const COMPONENTS: &[&str] =
    &["COMPONENT_UNSPECIFIED", "COMPONENT_PARSER", "COMPONENT_TYPE_CHECKER", "COMPONENT_RUNTIME"];
const PRIMITIVES: &[&str] = &["PRIMITIVE_TYPE_UNSPECIFIED", "BOOL", "INT64", "UINT64", "DOUBLE", "STRING", "BYTES"];
const WELL_KNOWN: &[&str] = &["WELL_KNOWN_TYPE_UNSPECIFIED", "ANY", "TIMESTAMP", "DURATION"];

impl Shape {
    /// The fields, in the order of their numbers.
    pub(super) const fn fields(self) -> &'static [Field] {
        match self {
            Self::ParsedExpr => message! {
                2 "expr" "expr" Message(Shape::Expr), One;
                3 "source_info" "sourceInfo" Message(Shape::SourceInfo), One;
            },
            Self::CheckedExpr => message! {
                2 "reference_map" "referenceMap" Message(Shape::ReferenceEntry), Map;
                3 "type_map" "typeMap" Message(Shape::TypeEntry), Map;
                4 "expr" "expr" Message(Shape::Expr), One;
                5 "source_info" "sourceInfo" Message(Shape::SourceInfo), One;
                6 "expr_version" "exprVersion" Text, One;
            },
            Self::Expr => message! {
                2 "id" "id" Int64, One;
                3 "const_expr" "constExpr" Message(Shape::Constant), Alternative;
                4 "ident_expr" "identExpr" Message(Shape::Ident), Alternative;
                5 "select_expr" "selectExpr" Message(Shape::Select), Alternative;
                6 "call_expr" "callExpr" Message(Shape::Call), Alternative;
                7 "list_expr" "listExpr" Message(Shape::CreateList), Alternative;
                8 "struct_expr" "structExpr" Message(Shape::CreateStruct), Alternative;
                9 "comprehension_expr" "comprehensionExpr" Message(Shape::Comprehension), Alternative;
            },
            Self::Ident => message! { 1 "name" "name" Text, One; },
            Self::Select => message! {
                1 "operand" "operand" Message(Shape::Expr), One;
                2 "field" "field" Text, One;
                3 "test_only" "testOnly" Bool, One;
            },
            Self::Call => message! {
                1 "target" "target" Message(Shape::Expr), One;
                2 "function" "function" Text, One;
                3 "args" "args" Message(Shape::Expr), Many;
            },
            Self::CreateList => message! {
                1 "elements" "elements" Message(Shape::Expr), Many;
                2 "optional_indices" "optionalIndices" Int32, Many;
            },
            Self::CreateStruct => message! {
                1 "message_name" "messageName" Text, One;
                2 "entries" "entries" Message(Shape::Entry), Many;
            },
            Self::Entry => message! {
                1 "id" "id" Int64, One;
                2 "field_key" "fieldKey" Text, Alternative;
                3 "map_key" "mapKey" Message(Shape::Expr), Alternative;
                4 "value" "value" Message(Shape::Expr), One;
                5 "optional_entry" "optionalEntry" Bool, One;
            },
            Self::Comprehension => message! {
                1 "iter_var" "iterVar" Text, One;
                2 "iter_range" "iterRange" Message(Shape::Expr), One;
                3 "accu_var" "accuVar" Text, One;
                4 "accu_init" "accuInit" Message(Shape::Expr), One;
                5 "loop_condition" "loopCondition" Message(Shape::Expr), One;
                6 "loop_step" "loopStep" Message(Shape::Expr), One;
                7 "result" "result" Message(Shape::Expr), One;
                8 "iter_var2" "iterVar2" Text, One;
            },
            Self::Constant => message! {
                1 "null_value" "nullValue" Null, Alternative;
                2 "bool_value" "boolValue" Bool, Alternative;
                3 "int64_value" "int64Value" Int64, Alternative;
                4 "uint64_value" "uint64Value" Uint64, Alternative;
                5 "double_value" "doubleValue" Double, Alternative;
                6 "string_value" "stringValue" Text, Alternative;
                7 "bytes_value" "bytesValue" Bytes, Alternative;
            },
            Self::SourceInfo => message! {
                1 "syntax_version" "syntaxVersion" Text, One;
                2 "location" "location" Text, One;
                3 "line_offsets" "lineOffsets" Int32, Many;
                4 "positions" "positions" Message(Shape::PositionEntry), Map;
                5 "macro_calls" "macroCalls" Message(Shape::MacroCallEntry), Map;
                6 "extensions" "extensions" Message(Shape::Extension), Many;
            },
            Self::Extension => message! {
                1 "id" "id" Text, One;
                2 "affected_components" "affectedComponents" Enum(COMPONENTS), Many;
                3 "version" "version" Message(Shape::Version), One;
            },
            Self::Version => message! {
                1 "major" "major" Int64, One;
                2 "minor" "minor" Int64, One;
            },
            Self::Reference => message! {
                1 "name" "name" Text, One;
                3 "overload_id" "overloadId" Text, Many;
                4 "value" "value" Message(Shape::Constant), One;
            },
            Self::Type => message! {
                1 "dyn" "dyn" Message(Shape::Empty), Alternative;
                2 "null" "null" Null, Alternative;
                3 "primitive" "primitive" Enum(PRIMITIVES), Alternative;
                4 "wrapper" "wrapper" Enum(PRIMITIVES), Alternative;
                5 "well_known" "wellKnown" Enum(WELL_KNOWN), Alternative;
                6 "list_type" "listType" Message(Shape::ListType), Alternative;
                7 "map_type" "mapType" Message(Shape::MapType), Alternative;
                8 "function" "function" Message(Shape::FunctionType), Alternative;
                9 "message_type" "messageType" Text, Alternative;
                10 "type_param" "typeParam" Text, Alternative;
                11 "type" "type" Message(Shape::Type), Alternative;
                12 "error" "error" Message(Shape::Empty), Alternative;
                14 "abstract_type" "abstractType" Message(Shape::AbstractType), Alternative;
            },
            Self::ListType => message! { 1 "elem_type" "elemType" Message(Shape::Type), One; },
            Self::MapType => message! {
                1 "key_type" "keyType" Message(Shape::Type), One;
                2 "value_type" "valueType" Message(Shape::Type), One;
            },
            Self::FunctionType => message! {
                1 "result_type" "resultType" Message(Shape::Type), One;
                2 "arg_types" "argTypes" Message(Shape::Type), Many;
            },
            Self::AbstractType => message! {
                1 "name" "name" Text, One;
                2 "parameter_types" "parameterTypes" Message(Shape::Type), Many;
            },
            Self::Empty => &[],
            Self::PositionEntry => message! { 1 "key" "key" Int64, One; 2 "value" "value" Int32, One; },
            Self::MacroCallEntry => {
                message! { 1 "key" "key" Int64, One; 2 "value" "value" Message(Shape::Expr), One; }
            }
            Self::ReferenceEntry => {
                message! { 1 "key" "key" Int64, One; 2 "value" "value" Message(Shape::Reference), One; }
            }
            Self::TypeEntry => message! { 1 "key" "key" Int64, One; 2 "value" "value" Message(Shape::Type), One; },
        }
    }

    /// Whether it is an expression or a part of one.
    pub(super) fn is_expression(self) -> bool {
        match self {
            Self::Expr
            | Self::Ident
            | Self::Select
            | Self::Call
            | Self::CreateList
            | Self::CreateStruct
            | Self::Entry
            | Self::Comprehension
            | Self::Constant => true,
            Self::ParsedExpr
            | Self::CheckedExpr
            | Self::SourceInfo
            | Self::Extension
            | Self::Version
            | Self::Reference
            | Self::Type
            | Self::ListType
            | Self::MapType
            | Self::FunctionType
            | Self::AbstractType
            | Self::Empty
            | Self::PositionEntry
            | Self::MacroCallEntry
            | Self::ReferenceEntry
            | Self::TypeEntry => false,
        }
    }

    /// The field of this number.
    pub(super) fn field(self, number: u32) -> Option<&'static Field> {
        self.fields().iter().find(|field| field.number == number)
    }

    /// The field of this name in JSON.
    pub(super) fn field_named(self, name: &str) -> Option<&'static Field> {
        self.fields().iter().find(|field| field.json == name || field.name == name)
    }
}
