//! Text against constants of every length, with the text at the very end of its memory.

use crate::common::{Build, run};
use crate::runtime::calls;
use celero_ir::layout::{Access, Field, Path, Repr};
use celero_ir::{Cmp, Constant, ErrorKind, Helper, NodeId, Op, Ty, Wildcard};

fn slice_field(b: &mut Build, ty: Ty, offset: u32) -> NodeId {
    let index = b.fields.len() as u32;
    let access = Access::Load(Path(vec![offset]), Repr::Slice(8));
    b.fields.push(Field::new(ty, false, access));
    b.add(Op::Field(index), ty, &[])
}

/// `===` a page that may be read `===` one that may not: text is put against the border, so that a
/// load beyond it faults.
struct Border {
    map: *mut u8,
    page: usize,
}

impl Border {
    fn new() -> Self {
        use rustix::mm::{MapFlags, MprotectFlags, ProtFlags};
        let page = rustix::param::page_size();
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, of which the second page is closed and the first is used by this value alone.
        let map = unsafe {
            let map = rustix::mm::mmap_anonymous(std::ptr::null_mut(), 2 * page, access, MapFlags::PRIVATE).unwrap();
            rustix::mm::mprotect(map.byte_add(page), page, MprotectFlags::empty()).unwrap();
            map
        };
        Self { map: map.cast(), page }
    }

    /// Puts the text at the end of the first page.
    fn at_end(&mut self, text: &[u8]) -> [usize; 2] {
        // SAFETY: within the first page.
        unsafe {
            let start = self.map.add(self.page - text.len());
            start.copy_from_nonoverlapping(text.as_ptr(), text.len());
            [start.addr(), text.len()]
        }
    }
}

impl Drop for Border {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`.
        unsafe { rustix::mm::munmap(self.map.cast(), 2 * self.page).unwrap() };
    }
}

#[test]
fn constants_of_every_length_with_one_wrong_byte_at_every_place() {
    let mut border = Border::new();
    for n in 0..=40_usize {
        let constant: String = (0..n).map(|i| char::from(b'A' + (i % 50) as u8)).collect();
        let bytes = constant.as_bytes();
        let mut b = Build::default();
        let text = slice_field(&mut b, Ty::Str, 0);
        let c = b.text(&constant);
        for (op, args) in [
            (Op::Cmp(Cmp::Eq), [text, c]),
            (Op::Cmp(Cmp::Ne), [c, text]),
            (Op::StartsWith, [text, c]),
            (Op::EndsWith, [text, c]),
        ] {
            let root = b.add(op, Ty::Bool, &args);
            b.graph.add_root(root);
        }
        let code = b.compile();
        let mut check = |text: &[u8]| {
            let host = border.at_end(text);
            assert_eq!(run(&code, 0, &host).bool(), Ok(text == bytes), "{constant:?} == {text:?}");
            assert_eq!(run(&code, 1, &host).bool(), Ok(text != bytes), "{constant:?} != {text:?}");
            assert_eq!(run(&code, 2, &host).bool(), Ok(text.starts_with(bytes)), "{text:?} starts {constant:?}");
            assert_eq!(run(&code, 3, &host).bool(), Ok(text.ends_with(bytes)), "{text:?} ends {constant:?}");
        };
        check(bytes);
        check(&[bytes, b"z"].concat());
        check(&[b"z", bytes].concat());
        check(&bytes[..n.saturating_sub(1)]);
        check(&bytes[n.min(1)..]);
        for place in 0..n {
            for flip in [1, 0x80, 0xff] {
                let mut near = bytes.to_vec();
                near[place] ^= flip;
                check(&near);
                check(&[&near, &b"z"[..]].concat());
                check(&[b"z", &near[..]].concat());
            }
        }
        assert_eq!(calls(Helper::bytes_equal) > 0, n > 32, "{n}");
    }
}

#[test]
fn comparisons_of_texts_need_a_frame_only_beside_what_reads_its_budget() {
    let ops = [
        (Op::Cmp(Cmp::Eq), "x == y"),
        (Op::Cmp(Cmp::Ne), "x != y"),
        (Op::Cmp(Cmp::Lt), "x < y"),
        (Op::Cmp(Cmp::Ge), "x >= y"),
        (Op::StartsWith, "x starts with y"),
        (Op::EndsWith, "x ends with y"),
    ];
    for (op, name) in ops {
        for reads_budget in [false, true] {
            let mut b = Build::default();
            let (x, y) = (slice_field(&mut b, Ty::Str, 0), slice_field(&mut b, Ty::Str, 16));
            let mut root = b.add(op, Ty::Bool, &[x, y]);
            if reads_budget {
                let size = b.add(Op::Call(Helper::string_size), Ty::Int, &[x]);
                let one = b.int(1);
                let is_one = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[size, one]);
                root = b.add(Op::And, Ty::Bool, &[root, is_one]);
            }
            b.graph.add_root(root);
            let code = b.compile();
            assert_eq!(code.entry(0).unwrap().context_only().is_some(), !reads_budget, "{name}");
        }
    }
}

/// Patterns with one star or none, of every length, on text with one byte of another value at every place.
#[test]
fn wildcards_of_every_length() {
    let mut border = Border::new();
    for n in 0..=34_usize {
        let constant: Vec<u8> = (0..n).map(|i| b"ab@`-[{\x00zZ\xc1\xe1k"[i % 13]).collect();
        for strict in [true, false] {
            let (start, end) = constant.split_at(n / 3);
            let shapes: [Vec<&[u8]>; 5] = [
                vec![&constant],
                vec![&constant, b""],
                vec![b"", &constant],
                vec![start, end],
                vec![b"", &constant, b""],
            ];
            let mut b = Build::default();
            let raw = slice_field(&mut b, Ty::Raw, 0);
            let text = b.add(Op::AsBytes, Ty::Bytes, &[raw]);
            for pieces in &shapes {
                let id = b.graph.constant(Constant::Wildcard(Wildcard::new(pieces.iter().copied(), strict)));
                let root = b.add(Op::WildcardConst(id), Ty::Bool, &[text]);
                b.graph.add_root(root);
            }
            let code = b.compile();
            calls(Helper::wildcard_matches);
            let mut check = |text: &[u8]| {
                let fold = |bytes: &[u8]| if strict { bytes.to_vec() } else { bytes.to_ascii_lowercase() };
                let (value, host) = (fold(text), border.at_end(text));
                for (root, pieces) in shapes.iter().enumerate().take(4) {
                    let pieces: Vec<Vec<u8>> = pieces.iter().map(|piece| fold(piece)).collect();
                    let wanted = match &*pieces {
                        [start, end] => {
                            value.len() >= start.len() + end.len() && value.starts_with(start) && value.ends_with(end)
                        }
                        whole => whole == [value.clone()],
                    };
                    assert_eq!(run(&code, root, &host).bool(), Ok(wanted), "{pieces:?} on {text:?}, strict {strict}");
                }
            };
            check(&constant);
            check(&[&constant, &b"z"[..]].concat());
            check(&[b"z", &constant[..]].concat());
            check(&[&constant[..n / 3], b"--", &constant[n / 3..]].concat());
            check(&constant[n.min(1)..]);
            for place in 0..n {
                for flip in [0x20, 1, 0x80] {
                    let mut near = constant.clone();
                    near[place] ^= flip;
                    check(&near);
                    check(&[&near, &b"z"[..]].concat());
                    check(&[b"z", &near[..]].concat());
                }
            }
            assert_eq!(calls(Helper::wildcard_matches) > 0, n > 32, "{n}");
            let host = [constant.as_ptr().addr(), n];
            assert_eq!(run(&code, 4, &host).bool(), Ok(true));
            assert_eq!(calls(Helper::wildcard_matches), 1);
        }
    }
}

#[test]
fn two_unknown_texts() {
    let cmps = [Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge];
    let texts = ["", "a", "ab", "b", "ba", "a\u{e9}"];
    for ty in [Ty::Str, Ty::Bytes] {
        let mut b = Build::default();
        let (x, y) = (slice_field(&mut b, ty, 0), slice_field(&mut b, ty, 16));
        for cmp in cmps {
            let root = b.add(Op::Cmp(cmp), Ty::Bool, &[x, y]);
            b.graph.add_root(root);
        }
        for op in [Op::StartsWith, Op::EndsWith] {
            let root = b.add(op, Ty::Bool, &[x, y]);
            b.graph.add_root(root);
        }
        let code = b.compile();
        for x in texts {
            for y in texts {
                let host = [x.as_ptr().addr(), x.len(), y.as_ptr().addr(), y.len()];
                let expected = [x == y, x != y, x < y, x <= y, x > y, x >= y, x.starts_with(y), x.ends_with(y)];
                for (root, &expected) in expected.iter().enumerate().take(b.graph.roots().len()) {
                    assert_eq!(run(&code, root, &host).bool(), Ok(expected), "{x:?} {root} {y:?}");
                }
            }
        }
    }
}

#[test]
fn sets_in_line_and_not() {
    let mut b = Build::default();
    let text = slice_field(&mut b, Ty::Str, 0);
    let sets: [Vec<&str>; 4] = [
        vec![],
        vec!["", "GET", "HEAD"],
        vec!["a", "b", "c", "d", "e"],
        vec!["an element that is far too long to be compared"],
    ];
    for set in &sets {
        let members = set.iter().map(|&member| member.as_bytes().into()).collect();
        let id = b.graph.constant(Constant::StrSet(members));
        let root = b.add(Op::InStrSet(id), Ty::Bool, &[text]);
        b.graph.add_root(root);
    }
    let code = b.compile();
    for text in ["", "GET", "GEX", "HEAD", "a", "e", "f", "an element that is far too long to be compared"] {
        for (root, set) in sets.iter().enumerate() {
            let host = [text.as_ptr().addr(), text.len()];
            assert_eq!(run(&code, root, &host).bool(), Ok(set.contains(&text)), "{text:?} in {set:?}");
        }
    }

    // Members that are not UTF-8, and the bytes of raw text.
    let mut b = Build::default();
    let raw = slice_field(&mut b, Ty::Raw, 0);
    let bytes = b.add(Op::AsBytes, Ty::Bytes, &[raw]);
    let sets: [&[&[u8]]; 2] = [&[b"GET", b"\xff"], &[b"a", b"b", b"c", b"d", b"\xe2\x82"]];
    for set in sets {
        let id = b.graph.constant(Constant::StrSet(set.iter().map(|&member| member.into()).collect()));
        let root = b.add(Op::InStrSet(id), Ty::Bool, &[bytes]);
        b.graph.add_root(root);
    }
    let needle = b.graph.constant(Constant::Searcher(b"\xe2"[..].into()));
    let root = b.add(Op::ContainsConst(needle), Ty::Bool, &[bytes]);
    b.graph.add_root(root);
    let suffix = b.constant(Constant::Bytes(b"\xff"[..].into()), Ty::Bytes);
    let root = b.add(Op::EndsWith, Ty::Bool, &[bytes, suffix]);
    b.graph.add_root(root);
    let code = b.compile();
    let texts: [&[u8]; 6] = [b"", b"GET", b"\xff", b"\xe2\x82", b"\xef\xbf\xbd", b"d"];
    for text in texts {
        let host = [text.as_ptr().addr(), text.len()];
        for (root, set) in sets.iter().enumerate() {
            assert_eq!(run(&code, root, &host).bool(), Ok(set.contains(&text)), "{text:?} in {set:?}");
        }
        assert_eq!(run(&code, 2, &host).bool(), Ok(text.contains(&0xe2)), "{text:?}");
        assert_eq!(run(&code, 3, &host).bool(), Ok(text.ends_with(b"\xff")), "{text:?}");
    }

    let mut b = Build::default();
    b.fields.push(Field::new(Ty::Int, false, Access::Load(Path(vec![0]), Repr::I64)));
    let n = b.add(Op::Field(0), Ty::Int, &[]);
    let set = b.graph.constant(Constant::IntSet([i64::MIN, 0, 7].into()));
    let root = b.add(Op::InIntSet(set), Ty::Bool, &[n]);
    b.graph.add_root(root);
    let code = b.compile();
    for n in [i64::MIN, -1, 0, 7, 8] {
        assert_eq!(run(&code, 0, &n).bool(), Ok([i64::MIN, 0, 7].contains(&n)));
    }
}

#[test]
fn text_results_and_fallible_text_helpers() {
    let mut b = Build::default();
    let raw = slice_field(&mut b, Ty::Raw, 0);
    let decoded = b.add(Op::Decode, Ty::Str, &[raw]);
    let suffix = b.text("!");
    let joined = b.add(Op::Call(Helper::string_add), Ty::Str, &[decoded, suffix]);
    let bytes = b.add(Op::AsBytes, Ty::Bytes, &[joined]);
    b.graph.add_root(bytes);
    // The failed call is not made again for the second operand.
    let (ok, bad) = (b.text("OK"), b.text("BAD"));
    let first = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[decoded, ok]);
    let second = b.add(Op::Cmp(Cmp::Eq), Ty::Bool, &[decoded, bad]);
    let either = b.add(Op::Or, Ty::Bool, &[first, second]);
    b.graph.add_root(either);
    let code = b.compile();
    let host = |text: &'static str| [text.as_ptr().addr(), text.len()];
    assert_eq!(run(&code, 0, &host("hey")).text(), Ok("hey!"));
    assert_eq!(run(&code, 0, &host("BAD")).text(), Err(ErrorKind::OutOfBudget));
    for (text, expected) in [("OK", Ok(true)), ("no", Ok(false)), ("BAD", Err(ErrorKind::OutOfBudget))] {
        calls(Helper::text_decode);
        assert_eq!(run(&code, 1, &host(text)).bool(), expected);
        assert_eq!(calls(Helper::text_decode), 1);
    }
}

/// In the layout of the fields below.
#[repr(C)]
struct Host {
    text: &'static str,
    flag: u64,
    map: crate::runtime::Headers,
}

/// Literals of a batch, in texts that are there or not, in places that the search dominates or not, in loops.
#[test]
fn literals_of_a_batch_are_searched_for_once() {
    let mut b = Build::default();
    let text = slice_field(&mut b, Ty::Str, 0);
    b.fields.push(Field::new(Ty::Bool, false, Access::Load(Path(vec![16]), Repr::Bool)));
    let flag = b.add(Op::Field(1), Ty::Bool, &[]);
    b.fields.push(Field { headers: Some(Path(vec![24])), ..Field::new(Ty::Value, false, Access::Get) });
    let name = b.graph.constant(Constant::HeaderName("h".into()));
    let header = b.add(Op::Header { field: 2, name }, Ty::Maybe, &[]);
    let header = b.add(Op::Require, Ty::Raw, &[header]);
    let needles = ["abc", "bcd", "xyz"];
    let mut search = |text| {
        needles.map(|needle| {
            let needle = b.graph.constant(Constant::Searcher(needle.as_bytes().into()));
            b.add(Op::ContainsConst(needle), Ty::Bool, &[text])
        })
    };
    let (in_text, in_header) = (search(text), search(header));
    let all = b.add(Op::And, Ty::Bool, &in_text);
    let any = b.add(Op::Or, Ty::Bool, &in_header);
    // The second search is where the first may not have been made.
    let branch = b.add(Op::Cond, Ty::Bool, &[flag, in_text[0], flag]);
    let not = b.add(Op::Not, Ty::Bool, &[in_text[1]]);
    let apart = b.add(Op::Cond, Ty::Bool, &[branch, not, in_text[2]]);
    let list = b.value(crate::runtime::Value::ints(0..3));
    let looped = b.add(Op::And, Ty::Bool, &[flag, in_text[1]]);
    let fold = Op::Fold { kind: celero_ir::FoldKind::Exists, level: 0, pairs: false, filtered: false };
    let looped = b.add(fold, Ty::Bool, &[list, looped]);
    for root in [all, any, apart, looped] {
        b.graph.add_root(root);
    }
    let set: Vec<Vec<u8>> = needles.iter().map(|needle| needle.as_bytes().to_vec()).collect();
    let batch = |searches: [NodeId; 3]| -> Vec<(NodeId, u32)> {
        searches.into_iter().map(|search| b.graph.class(search)).zip(0..).collect()
    };
    let (in_text, in_header) = (batch(in_text), batch(in_header));
    let set = std::ptr::from_ref(&set) as usize;
    let literals = [&in_text, &in_header].map(|searches| celero_jit::LiteralBatch { searches, set });
    let code = b.with_unit(|unit| {
        let unit = celero_jit::Unit { literals: &literals, ..*unit };
        celero_jit::Compiler::new(&celero_jit::Settings::default()).unwrap().compile(&unit).unwrap()
    });
    calls(Helper::literals_find);
    calls(Helper::searcher_find);
    for text in ["", "abc", "abcd", "xyz abcd", "bcd", "xyz", "?", "abc?bcd", "?xyz abcd", "bcd xyz?abc"] {
        for flag in [false, true] {
            for value in [None, Some(text)] {
                let map = crate::runtime::Headers(value.map(|value| ("h".into(), value.into())).into_iter().collect());
                let host = Host { text, flag: u64::from(flag), map };
                let [first, second, third] = needles.map(|needle| text.contains(needle));
                let check = |root: usize, expected: Result<bool, ErrorKind>| {
                    assert_eq!(run(&code, root, &host).bool(), expected, "{root}: {text:?} {flag} {value:?}");
                    assert!(calls(Helper::literals_find) <= 1, "{root}: searched twice");
                    // In the loop, a literal that was left open is searched for in each turn.
                    let open = if text.contains('?') { 3 } else { 0 };
                    assert!(calls(Helper::searcher_find) <= open, "{root}: searched once more");
                };
                check(0, Ok(first && second && third));
                check(1, value.map_or(Err(ErrorKind::NoSuchKey), |_| Ok(first || second || third)));
                check(2, Ok(if flag && first { !second } else { third }));
                check(3, Ok(flag && second));
            }
        }
    }
}
