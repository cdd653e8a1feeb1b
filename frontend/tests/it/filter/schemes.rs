//! Schemes: what can be declared, and the scheme of HTTP.

use celero_frontend::filter::{
    ArgumentKind, FilterFunction, FilterOptions, FilterParameter, FilterType, Named, Scheme, SchemeError,
    StandardFunction, check_filter, http_scheme, standard_functions,
};
use std::sync::Arc;

#[test]
fn hosts_declare_fields_functions_and_lists() {
    let mut scheme = Scheme::new();
    assert_eq!(scheme.add_field("a.b_1", FilterType::Bytes), Ok(0));
    assert_eq!(scheme.add_field("a.b_1", FilterType::Int), Err(SchemeError::NameTaken("a.b_1".into())));
    assert_eq!(scheme.add_field("lower", FilterType::Int), Err(SchemeError::NameTaken("lower".into())));
    for name in ["", ".a", "a.", "a..b", "a-b", "é"] {
        assert_eq!(scheme.add_field(name, FilterType::Int), Err(SchemeError::InvalidName(name.into())));
    }
    let mut ty = FilterType::Int;
    for _ in 0..33 {
        ty = FilterType::array(ty);
    }
    assert_eq!(scheme.add_field("deep", ty), Err(SchemeError::TooManyLayers { name: "deep".into(), layers: 33 }));
    let text = FilterParameter::new(ArgumentKind::Any, FilterType::Bytes);
    let function = FilterFunction::new("is_known", [text], FilterType::Bool);
    assert_eq!(function.to_string(), "is_known(Bytes) -> Bool");
    scheme.add_function(function).unwrap();
    assert_eq!(scheme.add_list("x", FilterType::Bool), Err(SchemeError::NotListable(FilterType::Bool)));
    assert_eq!(scheme.add_list("X", FilterType::Int), Err(SchemeError::InvalidName("X".into())));
    scheme.add_list("x", FilterType::Int).unwrap();
    assert_eq!(scheme.add_list("x", FilterType::Int), Err(SchemeError::NameTaken("x".into())));
    scheme.add_list("x", FilterType::Bytes).unwrap();
    let scheme = Arc::new(scheme);
    let rule = "is_known(a.b_1) or a.b_1 in $x";
    let (tree, _) = check_filter(rule, &scheme, &FilterOptions::default()).unwrap();
    assert!(tree.uses_field(0) && !tree.uses_field(1));
    assert_eq!(tree.lists().collect::<Vec<_>>(), [("x", &FilterType::Bytes)]);
}

#[test]
fn the_scheme_of_http_has_the_documented_fields() {
    let scheme = http_scheme();
    assert!(scheme.fields().len() > 200);
    for (name, ty) in [
        ("http.host", "Bytes"),
        ("http.request.headers", "Map<Array<Bytes>>"),
        ("http.request.body.multipart.names", "Array<Array<Bytes>>"),
        ("ip.src", "Ip"),
        ("cf.bot_management.score", "Int"),
        ("cf.response.1xxx_code", "Int"),
        ("ssl", "Bool"),
    ] {
        let Some(Named::Field(index)) = scheme.named(name) else { panic!("{name}") };
        assert_eq!(scheme.fields()[index as usize].ty.to_string(), ty, "{name}");
    }
    assert!(!scheme.has_list("anything", &FilterType::Ip));
    let mut open = scheme;
    open.accept_all_lists();
    assert!(open.has_list("anything", &FilterType::Ip) && open.has_list("anything", &FilterType::Bytes));
}

#[test]
fn signatures_are_shown_as_documented() {
    let functions = standard_functions();
    let shown = |wanted: StandardFunction| {
        functions.iter().find(|function| function.standard == Some(wanted)).unwrap().to_string()
    };
    assert_eq!(shown(StandardFunction::Cidr), "cidr(Ip, literal Int, literal Int) -> Ip");
    assert_eq!(shown(StandardFunction::Split), "split(Bytes, literal Bytes, literal Int) -> Array<Bytes>");
    assert_eq!(shown(StandardFunction::Len), "len(Bytes or Array) -> Int");
    assert_eq!(shown(StandardFunction::UrlDecode), "url_decode(Bytes, [literal Bytes]) -> Bytes");
    assert_eq!(
        shown(StandardFunction::LookupJsonInteger),
        "lookup_json_integer(Bytes, literal Bytes or Int, literal Bytes or Int...) -> Int"
    );
    assert!(functions.is_sorted_by_key(|function| function.name.clone()));
}
