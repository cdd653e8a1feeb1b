//! What the tests of graphs share: random numbers, a host, a graph with every operation.

use celero_ir::Ty;
use celero_ir::layout::{
    Access, Cursor, Elements, Entries, EntryValue, Field, Item, Items, Members, Path, Place, Repr,
};

/// A small deterministic generator (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    pub(crate) fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }
}

/// The types that a field may have.
pub(crate) const FIELD_TYPES: &[Ty] = Ty::ALL.split_at(12).0;

/// One field of each type, by the number of the type; the odd ones are optional. Field 12 is a
/// header map, a list of texts, and a map from texts to numbers; fields 13 and 14 are lists of records, field 15
/// is a map whose keys alone are read in place.
pub(crate) fn fields() -> Vec<Field> {
    let mut fields: Vec<_> =
        FIELD_TYPES.iter().enumerate().map(|(index, ty)| Field::new(*ty, index % 2 == 1, Access::Get)).collect();
    let elements = Elements {
        path: Path::default(),
        place: Place::Words(8),
        stride: 16,
        ty: Ty::Str,
        access: Access::Get,
        members: None,
    };
    let value = EntryValue { ty: Ty::Int, access: Access::Get, make: 0 };
    let entries = Entries { path: Path::default(), key: Ty::Str, find: 0, value: Some(value) };
    let item = |ty| Item { ty, access: Access::Get };
    let items = Items::Entries(item(Ty::Str), item(Ty::Int));
    let cursor = Cursor { path: Path::default(), begin: 0, next: 0, state: 8, items };
    let list = Field::new(Ty::Value, false, Access::Get);
    let records = Elements { ty: Ty::Record, members: Some(Members(members)), ..elements.clone() };
    fields.push(Field {
        headers: Some(Path::default()),
        elements: Some(elements),
        entries: Some(entries),
        cursor: Some(cursor),
        ..list.clone()
    });
    let keys = Cursor { path: Path::default(), begin: 0, next: 0, state: 8, items: Items::Keys(item(Ty::Str)) };
    let keys = Field { cursor: Some(keys), ..list.clone() };
    let records = Field { elements: Some(records), ..list };
    fields.extend([records.clone(), records, keys]);
    fields
}

/// The members of an element of fields 13 and 14.
fn members() -> Vec<(String, Field)> {
    let load = |repr| Access::Load(Path(vec![8]), repr);
    vec![
        ("name".to_owned(), Field::new(Ty::Str, false, load(Repr::Slice(8)))),
        ("weight".to_owned(), Field::new(Ty::Int, false, load(Repr::I64))),
        ("absent".to_owned(), Field::new(Ty::Int, true, load(Repr::I64))),
    ]
}

/// The field of a type.
pub(crate) fn field_of(ty: Ty) -> u32 {
    Ty::ALL.iter().position(|each| *each == ty).unwrap_or(0) as u32
}

/// A graph with every operation.
pub(crate) const ALL_OPS: &str = r#"
# scalars
v0: bool = field 0 @0..4
v1: int = field 1
v2: uint = field 2
v3: double = field 3
v4: str = field 4
v5: bytes = field 5
v6: raw = field 6
v7: maybe = header 12 header_name "x-team" @5..9
v8: ip = field 10
v9: value = field 11
v10: bool = has_field 11
v11: bool = is_present v7
v12: raw = require v7
v13: str = decode v12
v14: str = ip_text v8
v15: int = const -5
v16: str = const "a\"b\n"
v17: int = fail divide_by_zero @3..7
v18: int = arith.add v1, v15
v19: int = arith.sub v18, v17
v20: uint = arith.mul v2, v2
v21: double = arith.div v3, v3
v22: int = arith.rem v1, v15
v23: int = neg v22
v24: bool = cmp.eq v12, v16
v25: bool = cmp.ne v4, v16
v26: bool = cmp.lt v1, v15
v27: bool = cmp.le v3, v21
v28: bool = cmp.gt v2, v20
v29: bool = cmp.ge v5, v5
v30: bool = starts_with v6, v16
v31: bool = ends_with v13, v14
v32: bool = contains_const searcher "x" v6
v33: bool = matches_const regex "a+" v4
v34: bool = in_str_set str_set ["a", "b"] v6
v35: bool = in_int_set int_set [-1, 2] v1
v36: bool = in_cidr cidr "10.0.0.0/8" v8
v37: bytes = as_bytes v4
v38: bool = cmp.eq v5, v37
v39: bool = not v38
v40: bool = and v39, v24, v25
v41: bool = or v40, v26, v27, v28
v42: int = cond v41, v1, v19
# values and variables
v43: value = box v42
v44: value = const ["a", 1, {true: null}]
v45: value = list v43, v44
v46: value = map v43, v44
v47: value = local 0
v48: value = local 1
v49: int = unbox int v47
v50: bool = cmp.eq v49, v15
v51: bool = fold.all 0 v45, v50
v52: bool = fold.exists 0 pairs v46, v50
v53: bool = fold.exists_one 0 v45, v50
v54: value = fold.filter 0 v45, v50
v55: value = fold.map 0 pairs filtered v45, v50, v48
v56: value = fold.transform_map 0 v45, v47
v57: value = fold.transform_map_entry 0 filtered v45, v50, v46
v58: int = local 0
v59: int = arith.add v58, v58
v60: int = let 0 v42, v59
v61: str = call string_add v4, v13
v62: value = dispatch pure "size_of" v45, v46
v63: value = dispatch impure "now" @1..2
v64: value = dispatch impure "now" @1..2
v65: value = list
v66: seq = elements 12
v67: str = local 0
v68: bool = starts_with v67, v16
v69: bool = fold.exists 0 v66, v68
v70: value = default v9, v44
v71: int = coalesce v1, v15, v42
v72: value = project projection {"a": {0: *, 2: {}}} v37
v73: found = find projection {"a": {"b": *}} v37
v74: found = reach 0 v73
v75: value = reach 1 v74
v76: bytes = as_bytes v6
v77: bool = starts_with v76, v5
v78: bool = ends_with v5, v37
v79: bool = contains_const searcher b"\xff" v76
v80: bool = in_str_set str_set ["a", b"\xff"] v5
v81: bool = matches_const byte_regex "a+" v76
v82: bool = wildcard_const wildcard ["", ".example.com"] v6
v83: bool = wildcard_const wildcard strict ["/A", b"\xff", ""] v5
v84: bool = or v77, v78, v79, v80, v81, v82, v83
v85: int = seq_size v66
v86: str = seq_at v66, v1
v87: bool = seq_has v86, v66
v88: seq = elements 13
v89: record = local 0
v90: int = member 13 1 v89
v91: bool = cmp.eq v90, v15
v92: bool = fold.exists 0 v88, v91
v93: int = fold.count 0 v88, v91
v94: entry = entry 12 v13
v95: bool = has_entry v94
v96: int = entry_value 12 v94
v97: int = cond v95, v96, v42
v98: timestamp = invoke framed "later" v9, v1
v99: int = invoke total "hours" v98
v100: bool = invoke partial "fits" v99, v3, v0
v101: double = invoke impure "dice"
v102: double = invoke impure "dice"
v103: str = local 1
v104: bool = cmp.eq v58, v15
v105: bool = cmp.eq v103, v16
v106: bool = and v104, v105
v107: bool = fold.exists 0 pairs v66, v106
v108: value = box v67
v109: value = fold.map 0 v66, v108
v110: value = fold.filter 0 v66, v68
v111: cursor = cursor 12
v112: int = local 1
v113: bool = cmp.eq v112, v15
v114: bool = fold.all 0 pairs v111, v113
v115: int = seq_size v111
v116: bool = seq_equal v66, v66
v117: bool = has_types [int, str] v9, v4
v118: bool = has_types [] v9
v119: bool = or v117, v118
v120: timestamp = field 9
v121: duration = field 8
v122: timestamp = time.add v120, v121
v123: timestamp = time.sub v122, v121
v124: duration = time.since v123, v98
v125: int = seq_size v5
root v41
root v107
root v114
root v115
root v116
root v119
root v124
root v125
root v109
root v110
root v97
root v60
root v84
root v64
root v57
"#;

/// A text with some characters changed.
pub(crate) fn mutated(text: &str, random: &mut Random) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..1 + random.below(4) {
        let at = random.below(text.len());
        let c = if random.below(4) == 0 {
            random.pick(&['\u{fffd}', 'é', '\\', '"', '{', '}'])
        } else {
            random.pick(&text)
        };
        match random.below(3) {
            // One number for another keeps the form of the text.
            _ if text[at].is_ascii_digit() => text[at] = random.pick(&['0', '1', '2', '4', '6']),
            0 => text[at] = c,
            1 => text.insert(at, c),
            _ => drop(text.remove(at)),
        }
    }
    text.into_iter().collect()
}
