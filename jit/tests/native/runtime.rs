//! A runtime that is just large enough to run compiled graphs: a frame, values, and the helpers that tests need.

use celero_ir::layout::value::tag;
use celero_ir::{ErrorKind, Helper};
use std::cell::Cell;

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) tag: u64,
    pub(crate) first: u64,
    pub(crate) second: u64,
    pub(crate) third: u64,
}

/// Tags that only these tests use. A list or map is a leaked vector of values; a map has key, value, key, value, ..
pub(crate) const LIST: u64 = 20;
pub(crate) const MAP: u64 = 21;

impl Value {
    pub(crate) fn new(tag: u8, first: u64, second: u64) -> Self {
        Self { tag: u64::from(tag), first, second, third: 0 }
    }

    pub(crate) fn int(n: i64) -> Self {
        Self::new(tag::INT, n as u64, 0)
    }

    pub(crate) fn text(text: &'static str) -> Self {
        Self::new(tag::STRING, text.as_ptr() as u64, text.len() as u64)
    }

    pub(crate) fn sequence(tag: u64, items: Vec<Value>) -> Self {
        let items = Box::leak(Box::new(items));
        Self { tag, first: std::ptr::from_mut(items) as u64, second: 0, third: 0 }
    }

    pub(crate) fn list(items: Vec<Value>) -> Self {
        Self::sequence(LIST, items)
    }

    pub(crate) fn ints(items: impl IntoIterator<Item = i64>) -> Self {
        Self::list(items.into_iter().map(Self::int).collect())
    }

    pub(crate) fn items(&self) -> &'static mut Vec<Value> {
        assert!(self.tag == LIST || self.tag == MAP);
        // SAFETY: made by `sequence`, never freed, used by one thread and by nobody else meanwhile.
        unsafe { &mut *(self.first as *mut Vec<Value>) }
    }

    /// A readable form, lists in brackets.
    pub(crate) fn show(&self) -> String {
        match self.tag {
            LIST => format!("[{}]", self.items().iter().map(Value::show).collect::<Vec<_>>().join(" ")),
            MAP => format!("{{{}}}", self.items().iter().map(Value::show).collect::<Vec<_>>().join(" ")),
            t if t == u64::from(tag::STRING) => {
                format!("{:?}", String::from_utf8_lossy(slice(self.first, self.second)))
            }
            t if t == u64::from(tag::DOUBLE) => format!("{:?}", f64::from_bits(self.first)),
            t if t == u64::from(tag::UINT) => format!("{}u", self.first),
            t if t == u64::from(tag::BOOL) => format!("{}", self.first as u8 == 1),
            t if t == u64::from(tag::NULL) => "null".into(),
            t if t == u64::from(tag::TIMESTAMP) => format!("{}.{}", self.first as i64, self.second),
            _ => format!("{}", self.first as i64),
        }
    }
}

pub(crate) fn slice(address: u64, length: u64) -> &'static [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: tests pass addresses of text that outlives the evaluation.
    unsafe { std::slice::from_raw_parts(address as *const u8, length as usize) }
}

#[repr(C)]
pub(crate) struct Frame {
    pub(crate) fuel: i64,
    /// Not read by generated code.
    pub(crate) rest: [u64; 3],
    pub(crate) out: u64,
    /// Not read by generated code.
    pub(crate) more: u64,
    pub(crate) result: [u64; 4],
}

const _: () = {
    use celero_ir::layout::frame;
    assert!(std::mem::offset_of!(Frame, fuel) == frame::FUEL as usize);
    assert!(std::mem::offset_of!(Frame, out) == frame::OUT as usize);
    assert!(std::mem::offset_of!(Frame, result) == frame::RESULT as usize);
};

#[repr(C)]
pub(crate) struct Pair(pub(crate) u64, pub(crate) u64);

thread_local! {
    /// Number of calls of some helpers, indexed by helper.
    pub(crate) static CALLS: [Cell<u32>; Helper::COUNT] = const { [const { Cell::new(0) }; Helper::COUNT] };
    /// Makes `header_get` fail.
    pub(crate) static BREAK_HEADERS: Cell<bool> = const { Cell::new(false) };
}

fn count(helper: Helper) {
    CALLS.with(|calls| calls[helper as usize].set(calls[helper as usize].get() + 1));
}

pub(crate) fn calls(helper: Helper) -> u32 {
    CALLS.with(|calls| calls[helper as usize].take())
}

pub(crate) fn leak(value: Value) -> u64 {
    std::ptr::from_mut(Box::leak(Box::new(value))) as u64
}

fn at(address: u64) -> Value {
    // SAFETY: generated code passes addresses of values.
    unsafe { *(address as *const Value) }
}

fn fail(kind: ErrorKind) -> Pair {
    Pair(kind as u64, 0)
}

/// A host's headers: pairs of name and value.
pub(crate) struct Headers(pub(crate) Vec<(String, String)>);

extern "C" fn header_get(_: *mut Frame, map: u64, name: u64) -> Pair {
    count(Helper::header_get);
    find_header(map, name)
}

/// The headers of tests are valid UTF-8.
extern "C" fn header_text(_: *mut Frame, map: u64, name: u64) -> Pair {
    count(Helper::header_text);
    find_header(map, name)
}

fn find_header(map: u64, name: u64) -> Pair {
    if BREAK_HEADERS.get() {
        return Pair(0, ErrorKind::OutOfBudget as u64);
    }
    // SAFETY: tests point the field at `Headers`, and the constant at a `String`.
    let (map, name) = unsafe { (&*(map as *const Headers), &*(name as *const String)) };
    match map.0.iter().find(|(key, _)| key == name) {
        Some((_, value)) => Pair(value.as_ptr() as u64, value.len() as u64),
        None => Pair(0, 0),
    }
}

extern "C" fn field_get(_: *mut Frame, index: u64) -> Pair {
    count(Helper::field_get);
    match index {
        100.. => fail(ErrorKind::NoSuchKey),
        _ => Pair(0, leak(Value::int(index as i64 + 1000))),
    }
}

extern "C" fn field_has(_: *mut Frame, index: u64) -> u64 {
    u64::from(index < 100)
}

extern "C" fn text_decode(_: *mut Frame, address: u64, length: u64) -> Pair {
    count(Helper::text_decode);
    if slice(address, length) == b"BAD" { Pair(0, ErrorKind::OutOfBudget as u64) } else { Pair(address, length) }
}

extern "C" fn string_add(_: *mut Frame, a: u64, an: u64, b: u64, bn: u64) -> Pair {
    let joined = Box::leak([slice(a, an), slice(b, bn)].concat().into_boxed_slice());
    Pair(joined.as_ptr() as u64, joined.len() as u64)
}

extern "C" fn bytes_equal(_: *mut Frame, a: u64, an: u64, b: u64, bn: u64) -> u64 {
    count(Helper::bytes_equal);
    assert_eq!(an, bn);
    u64::from(slice(a, an) == slice(b, bn))
}

extern "C" fn bytes_compare(_: *mut Frame, a: u64, an: u64, b: u64, bn: u64) -> i64 {
    slice(a, an).cmp(slice(b, bn)) as i64
}

extern "C" fn bytes_starts_with(_: *mut Frame, a: u64, an: u64, b: u64, bn: u64) -> u64 {
    u64::from(slice(a, an).starts_with(slice(b, bn)))
}

extern "C" fn bytes_ends_with(_: *mut Frame, a: u64, an: u64, b: u64, bn: u64) -> u64 {
    u64::from(slice(a, an).ends_with(slice(b, bn)))
}

extern "C" fn str_set_has(_: *mut Frame, set: u64, text: u64, length: u64) -> u64 {
    // SAFETY: the constant is a vector of byte strings.
    let set = unsafe { &*(set as *const Vec<Vec<u8>>) };
    u64::from(set.iter().any(|member| member == slice(text, length)))
}

/// The prepared object of the helpers below is a `String`; they compare it with what they are given.
fn prepared(address: u64) -> &'static str {
    // SAFETY: see `Build::constants` in `common`.
    unsafe { &*(address as *const String) }
}

extern "C" fn searcher_find(_: *mut Frame, searcher: u64, text: u64, length: u64) -> Pair {
    count(Helper::searcher_find);
    // SAFETY: the constant is a byte string.
    let needle = unsafe { &*(searcher as *const Vec<u8>) };
    Pair(0, u64::from(slice(text, length).windows(needle.len()).any(|w| w == needle)))
}

extern "C" fn text_made(_: *mut Frame, make: u64, source: u64) -> Pair {
    count(Helper::text_made);
    // SAFETY: tests pass a function of this type, and the address that it takes.
    let made = unsafe { std::mem::transmute::<u64, fn(u64) -> Result<&'static str, ErrorKind>>(make)(source) };
    match made {
        Ok(text) => Pair(text.as_ptr() as u64, text.len() as u64),
        Err(kind) => Pair(0, kind as u64),
    }
}

/// What tests call a map's function with.
#[derive(Debug, PartialEq)]
pub(crate) enum Key {
    Text(&'static str),
    Number(u8, u64),
}

/// Finds the address of a value, or 0.
pub(crate) type FindEntry = fn(u64, Key) -> Result<u64, ErrorKind>;

fn entry(find: u64, map: u64, key: Key) -> Pair {
    // SAFETY: tests pass a function of this type.
    let find = unsafe { std::mem::transmute::<u64, FindEntry>(find) };
    find(map, key).map_or_else(fail, |value| Pair(0, value))
}

extern "C" fn entry_of_text(_: *mut Frame, find: u64, map: u64, address: u64, length: u64) -> Pair {
    count(Helper::entry_of_text);
    entry(find, map, Key::Text(std::str::from_utf8(slice(address, length)).unwrap()))
}

extern "C" fn entry_of_number(_: *mut Frame, find: u64, map: u64, tag: u64, key: u64) -> Pair {
    count(Helper::entry_of_number);
    entry(find, map, Key::Number(tag as u8, key))
}

/// Makes the number after the one at the address.
extern "C" fn entry_value(_: *mut Frame, make: u64, value: u64) -> Pair {
    count(Helper::entry_value);
    assert_eq!(make, 77, "the function of the layout");
    // SAFETY: the address that the map's function gave.
    let number = unsafe { *(value as *const i64) };
    if number < 0 { fail(ErrorKind::Overflow) } else { Pair(0, leak(Value::int(number + 1))) }
}

/// A set is a vector of byte strings. What follows a question mark is left open.
extern "C" fn literals_find(_: *mut Frame, set: u64, text: u64, length: u64) -> u64 {
    count(Helper::literals_find);
    // SAFETY: tests pass the address of such a set.
    let set = unsafe { &*(set as *const Vec<Vec<u8>>) };
    let text = if text == 0 { &[] } else { slice(text, length) };
    let (searched, open) = match text.iter().position(|&byte| byte == b'?') {
        Some(end) => (&text[..end], celero_ir::layout::literals::INCOMPLETE),
        None => (text, 0),
    };
    let found = |needle: &Vec<u8>| searched.windows(needle.len()).any(|part| part == needle);
    (0..).zip(set).filter(|(_, needle)| found(needle)).fold(open, |all, (bit, _)| all | 1_u64 << bit)
}

extern "C" fn regex_find(_: *mut Frame, regex: u64, text: u64, length: u64) -> Pair {
    Pair(0, u64::from(slice(text, length).ends_with(prepared(regex).trim_end_matches('$').as_bytes())))
}

extern "C" fn wildcard_matches(_: *mut Frame, wildcard: u64, text: u64, length: u64) -> Pair {
    count(Helper::wildcard_matches);
    fn all(pieces: &[std::sync::Arc<[u8]>], bytes: &[u8]) -> bool {
        match pieces {
            [] => bytes.is_empty(),
            [only] => bytes == &**only,
            [first, rest @ ..] => bytes
                .strip_prefix(&**first)
                .is_some_and(|after| (0..=after.len()).any(|skipped| all(rest, &after[skipped..]))),
        }
    }
    // SAFETY: the constant is a wildcard pattern.
    let wildcard = unsafe { &*(wildcard as *const celero_ir::Wildcard) };
    let text = slice(text, length);
    let folded = if wildcard.strict { text.to_vec() } else { text.to_ascii_lowercase() };
    Pair(0, u64::from(all(&wildcard.pieces, &folded)))
}

extern "C" fn int_set_has(_: *mut Frame, set: u64, number: i64) -> u64 {
    u64::from(prepared(set).split(',').any(|member| member == number.to_string()))
}

extern "C" fn ip_text(_: *mut Frame, high: u64, low: u64) -> Pair {
    let number = u128::from(high) << 64 | u128::from(low);
    let text = std::net::Ipv6Addr::from_bits(number).to_canonical().to_string().leak();
    Pair(text.as_ptr() as u64, text.len() as u64)
}

extern "C" fn value_new(_: *mut Frame, tag: u64, first: u64, second: u64) -> Pair {
    count(Helper::value_new);
    Pair(0, leak(Value { tag, first, second, third: 0 }))
}

extern "C" fn value_equal(_: *mut Frame, a: u64, b: u64) -> Pair {
    count(Helper::value_equal);
    Pair(0, u64::from(at(a).show() == at(b).show()))
}

extern "C" fn range_items(_: *mut Frame, range: u64) -> Pair {
    let range = at(range);
    match range.tag {
        LIST => Pair(0, leak(range)),
        MAP => Pair(0, leak(Value::list(range.items().iter().step_by(2).copied().collect()))),
        _ => fail(ErrorKind::NoSuchOverload),
    }
}

extern "C" fn map_only(_: *mut Frame, value: u64) -> Pair {
    if at(value).tag == MAP { Pair(0, value) } else { fail(ErrorKind::NoSuchOverload) }
}

extern "C" fn range_pairs(_: *mut Frame, range: u64) -> Pair {
    let range = at(range);
    match range.tag {
        LIST => {
            let pairs = range.items().iter().enumerate().flat_map(|(i, v)| [Value::int(i as i64), *v]);
            Pair(0, leak(Value::list(pairs.collect())))
        }
        MAP => Pair(0, leak(Value::list(range.items().clone()))),
        _ => fail(ErrorKind::NoSuchOverload),
    }
}

extern "C" fn list_len(_: *mut Frame, list: u64) -> i64 {
    at(list).items().len() as i64
}

/// Lists of an odd length are those whose elements are made.
extern "C" fn list_first(_: *mut Frame, list: u64) -> u64 {
    Some(at(list).items()).filter(|items| items.len() % 2 == 0).map_or(0, |items| items.as_ptr() as u64)
}

extern "C" fn list_at(_: *mut Frame, list: u64, index: u64) -> Pair {
    Pair(0, leak(at(list).items()[index as usize]))
}

extern "C" fn begin(_: *mut Frame, capacity: u64) -> Pair {
    assert!(capacity < 1 << 20);
    Pair(0, std::ptr::from_mut(Box::leak(Box::new(Vec::<Value>::new()))) as u64)
}

fn builder(address: u64) -> &'static mut Vec<Value> {
    // SAFETY: made by `begin`.
    unsafe { &mut *(address as *mut Vec<Value>) }
}

extern "C" fn list_block(_: *mut Frame, count: u64) -> Pair {
    assert!(count < 1 << 20);
    Pair(0, Box::leak(Box::<[Value]>::new_uninit_slice(count as usize)).as_mut_ptr() as u64)
}

extern "C" fn list_of_block(_: *mut Frame, block: u64, count: u64) -> Pair {
    Pair(0, leak(Value::list((0..count).map(|index| at(block + index * size_of::<Value>() as u64)).collect())))
}

extern "C" fn list_push(_: *mut Frame, list: u64, element: u64) -> Pair {
    builder(list).push(at(element));
    Pair(0, 0)
}

extern "C" fn list_finish(_: *mut Frame, list: u64) -> Pair {
    Pair(0, leak(Value::list(builder(list).clone())))
}

extern "C" fn map_insert(_: *mut Frame, map: u64, key: u64, element: u64) -> Pair {
    let (map, key) = (builder(map), at(key));
    if map.iter().step_by(2).any(|known| known.show() == key.show()) {
        return fail(ErrorKind::DuplicateKey);
    }
    map.extend([key, at(element)]);
    Pair(0, 0)
}

extern "C" fn map_merge(frame: *mut Frame, map: u64, entries: u64) -> Pair {
    for entry in at(entries).items().chunks(2) {
        let done = map_insert(frame, map, leak(entry[0]), leak(entry[1]));
        if done.0 != 0 {
            return done;
        }
    }
    Pair(0, 0)
}

extern "C" fn map_finish(_: *mut Frame, map: u64) -> Pair {
    Pair(0, leak(Value::sequence(MAP, builder(map).clone())))
}

/// Function 0 lists its operands; function 1 fails; function 2 adds integers.
extern "C" fn dispatch(_: *mut Frame, function: u64, operands: u64, count: u64) -> Pair {
    // SAFETY: generated code passes the address of `count` addresses.
    let operands = unsafe { std::slice::from_raw_parts(operands as *const u64, count as usize) };
    let values = operands.iter().map(|&operand| at(operand));
    match function {
        0 => Pair(0, leak(Value::list(values.collect()))),
        2 => Pair(0, leak(Value::int(values.map(|v| v.first as i64).sum()))),
        _ => fail(ErrorKind::NoSuchOverload),
    }
}

extern "C" fn size(_: *mut Frame, value: u64) -> Pair {
    match at(value).tag {
        LIST => Pair(0, at(value).items().len() as u64),
        _ => fail(ErrorKind::NoSuchOverload),
    }
}

/// A function without a frame: the quotient, which is no number for a divisor of 0.
extern "C" fn quotient(frame: *mut Frame, a: i64, b: i64) -> Pair {
    assert!(frame.is_null());
    a.checked_div(b).map_or_else(|| fail(ErrorKind::DivideByZero), |quotient| Pair(0, quotient as u64))
}

/// Whether a number is at least a double, and a truth value is set.
extern "C" fn all_kinds(frame: *mut Frame, a: i64, b: f64, c: u64) -> Pair {
    assert!(!frame.is_null());
    Pair(0, u64::from(a as f64 >= b && c == 1))
}

/// Half of a double.
extern "C" fn half(_: *mut Frame, a: f64) -> Pair {
    Pair(7, (a / 2.0).to_bits())
}

/// The text without its first byte.
extern "C" fn rest(_: *mut Frame, address: u64, length: u64) -> Pair {
    match length.checked_sub(1) {
        Some(length) => Pair(address + 1, length),
        None => Pair(0, ErrorKind::InvalidArgument as u64),
    }
}

/// The functions that `Op::Invoke` calls: functions 0 to 2 are those of `dispatch`.
pub(crate) fn functions() -> Vec<usize> {
    let all = [quotient as *const (), all_kinds as *const (), half as *const (), rest as *const ()];
    [0; 3].into_iter().chain(all.map(|function| function as usize)).collect()
}

extern "C" fn missing() {
    std::process::abort()
}

pub(crate) fn helpers() -> Vec<usize> {
    let address = |helper: Helper| match helper {
        Helper::header_get => header_get as *const () as usize,
        Helper::header_text => header_text as *const () as usize,
        Helper::field_get => field_get as *const () as usize,
        Helper::field_has => field_has as *const () as usize,
        Helper::text_made => text_made as *const () as usize,
        Helper::entry_of_text => entry_of_text as *const () as usize,
        Helper::entry_of_number => entry_of_number as *const () as usize,
        Helper::entry_value => entry_value as *const () as usize,
        Helper::literals_find => literals_find as *const () as usize,
        Helper::text_decode => text_decode as *const () as usize,
        Helper::string_add => string_add as *const () as usize,
        Helper::bytes_equal => bytes_equal as *const () as usize,
        Helper::bytes_compare => bytes_compare as *const () as usize,
        Helper::bytes_starts_with => bytes_starts_with as *const () as usize,
        Helper::bytes_ends_with => bytes_ends_with as *const () as usize,
        Helper::str_set_has => str_set_has as *const () as usize,
        Helper::searcher_find => searcher_find as *const () as usize,
        Helper::regex_find | Helper::byte_regex_find => regex_find as *const () as usize,
        Helper::wildcard_matches => wildcard_matches as *const () as usize,
        Helper::int_set_has => int_set_has as *const () as usize,
        Helper::ip_text => ip_text as *const () as usize,
        Helper::value_new => value_new as *const () as usize,
        Helper::value_equal => value_equal as *const () as usize,
        Helper::range_items => range_items as *const () as usize,
        Helper::map_only => map_only as *const () as usize,
        Helper::range_pairs => range_pairs as *const () as usize,
        Helper::list_len => list_len as *const () as usize,
        Helper::list_first => list_first as *const () as usize,
        Helper::list_at => list_at as *const () as usize,
        Helper::list_block => list_block as *const () as usize,
        Helper::list_of_block => list_of_block as *const () as usize,
        Helper::list_begin | Helper::map_begin => begin as *const () as usize,
        Helper::list_push => list_push as *const () as usize,
        Helper::list_finish => list_finish as *const () as usize,
        Helper::map_insert => map_insert as *const () as usize,
        Helper::map_merge => map_merge as *const () as usize,
        Helper::map_finish => map_finish as *const () as usize,
        Helper::dispatch => dispatch as *const () as usize,
        Helper::size => size as *const () as usize,
        _ => missing as *const () as usize,
    };
    Helper::ALL.iter().map(|&helper| address(helper)).collect()
}
