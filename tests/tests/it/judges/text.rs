//! Text as a vector of characters, and patterns by `regex` on the text as it is.

use super::{Judged, No, value};
use celero_frontend::stdlib::Builtin::{self as B};
use celero_tests::generate::Owned::{self, *};
use regex::Regex;

type Text = std::string::String;

fn chars(text: &str) -> Vec<char> {
    text.chars().collect()
}

fn text(chars: &[char]) -> Owned {
    String(chars.iter().collect())
}

fn texts(parts: Vec<Text>) -> Judged {
    value(List(parts.into_iter().map(String).collect()))
}

/// A position in text of a length, which may be its end.
fn position(at: i64, length: usize) -> Result<usize, No> {
    usize::try_from(at).ok().filter(|at| *at <= length).ok_or(No::Fails)
}

/// The positions at which a text occurs in another one.
fn occurrences(all: &[char], part: &[char]) -> Vec<usize> {
    (0..=all.len()).filter(|at| all[*at..].starts_with(part)).collect()
}

fn index(found: Option<usize>) -> Judged {
    value(Int(found.map_or(-1, |at| at as i64)))
}

/// The text between the first `limit` occurrences that do not overlap; an empty separator is between all characters.
fn split(all: &str, separator: &str, parts: i64) -> Vec<Text> {
    let all = chars(all);
    let separator = chars(separator);
    let (mut found, mut start, mut at) = (Vec::new(), 0, 0);
    if parts == 0 {
        return Vec::new();
    }
    if separator.is_empty() {
        let singles = if parts < 0 { all.len() } else { all.len().min(parts as usize) };
        for i in 0..singles {
            let end = if i + 1 == singles { all.len() } else { i + 1 };
            found.push(all[i..end].iter().collect());
        }
        return found;
    }
    while at < all.len() && (parts < 0 || (found.len() as i64) < parts - 1) {
        if all[at..].starts_with(&separator) {
            found.push(all[start..at].iter().collect());
            at += separator.len();
            start = at;
        } else {
            at += 1;
        }
    }
    found.push(all[start..].iter().collect());
    found
}

/// As Go's `strings.Replace`: empty text is before each character and at the end.
fn replace(all: &str, old: &str, new: &str, limit: i64) -> Text {
    let (all, old) = (chars(all), chars(old));
    let (mut result, mut at, mut done) = (Text::new(), 0, 0);
    while at <= all.len() {
        if (limit < 0 || done < limit) && all[at..].starts_with(&old) {
            result.push_str(new);
            done += 1;
            if !old.is_empty() {
                at += old.len();
                continue;
            }
        }
        result.extend(all.get(at));
        at += 1;
    }
    result
}

/// Whether each backslash is before a star or a backslash, and no star is after another one.
fn is_wildcard(pattern: &[char]) -> bool {
    match pattern {
        [] => true,
        ['\\', '*' | '\\', rest @ ..] => is_wildcard(rest),
        ['\\', ..] | ['*', '*', ..] => false,
        [_, rest @ ..] => is_wildcard(rest),
    }
}

/// Whether a pattern matches all of a text: `*` is any text, a backslash before `*` or `\` is nothing.
fn wildcard(pattern: &[char], all: &[char], same: &dyn Fn(char, char) -> bool) -> bool {
    match pattern {
        [] => all.is_empty(),
        ['*', rest @ ..] => (0..=all.len()).any(|at| wildcard(rest, &all[at..], same)),
        ['\\', c @ ('*' | '\\'), rest @ ..] | [c, rest @ ..] => {
            all.first().is_some_and(|first| same(*c, *first)) && wildcard(rest, &all[1..], same)
        }
    }
}

pub(super) fn judge(b: B, args: &[Owned]) -> Option<Judged> {
    use B::*;
    Some(match (b, args) {
        (AddString, [String(a), String(b)]) => value(String(format!("{a}{b}"))),
        (AddBytes, [Bytes(a), Bytes(b)]) => value(Bytes([&a[..], b].concat())),
        (SizeString, [String(s)]) => value(Int(chars(s).len() as i64)),
        (SizeBytes, [Bytes(b)]) => value(Int(b.len() as i64)),
        (Contains, [String(s), String(t)]) => value(Bool(!occurrences(&chars(s), &chars(t)).is_empty())),
        (StartsWith, [String(s), String(t)]) => value(Bool(chars(s).starts_with(&chars(t)))),
        (EndsWith, [String(s), String(t)]) => value(Bool(chars(s).ends_with(&chars(t)))),
        (CharAt, [String(s), Int(i)]) => {
            let all = chars(s);
            position(*i, all.len()).map(|at| text(&all[at..(at + 1).min(all.len())]))
        }
        (IndexOf, [String(s), String(t)]) => index(occurrences(&chars(s), &chars(t)).first().copied()),
        (LastIndexOf, [String(s), String(t)]) => index(occurrences(&chars(s), &chars(t)).last().copied()),
        (IndexOfFrom, [String(s), String(t), Int(i)]) => position(*i, chars(s).len())
            .and_then(|from| index(occurrences(&chars(s), &chars(t)).into_iter().find(|at| *at >= from))),
        (LastIndexOfFrom, [String(s), String(t), Int(i)]) => position(*i, chars(s).len())
            .and_then(|from| index(occurrences(&chars(s), &chars(t)).into_iter().rfind(|at| *at <= from))),
        (Join, [List(parts)]) => joined(parts, ""),
        (JoinWith, [List(parts), String(by)]) => joined(parts, by),
        (LowerAscii, [String(s)]) => {
            value(String(s.chars().map(|c| if c.is_ascii_uppercase() { (c as u8 + 32) as char } else { c }).collect()))
        }
        (UpperAscii, [String(s)]) => {
            value(String(s.chars().map(|c| if c.is_ascii_lowercase() { (c as u8 - 32) as char } else { c }).collect()))
        }
        (Replace, [String(s), String(old), String(new)]) => value(String(replace(s, old, new, -1))),
        (ReplaceFirst, [String(s), String(old), String(new), Int(n)]) => value(String(replace(s, old, new, *n))),
        (Split, [String(s), String(by)]) => texts(split(s, by, -1)),
        (SplitFirst, [String(s), String(by), Int(n)]) => texts(split(s, by, *n)),
        (Substring, [String(s), Int(from)]) => position(*from, chars(s).len()).map(|from| text(&chars(s)[from..])),
        (SubstringTo, [String(s), Int(from), Int(to)]) => {
            position(*to, chars(s).len()).and_then(|to| position(*from, to).map(|from| text(&chars(s)[from..to])))
        }
        (Trim, [String(s)]) => {
            let blank = Regex::new(r"^\p{White_Space}+|\p{White_Space}+$").unwrap();
            value(String(blank.replace_all(s, "").into_owned()))
        }
        (ReverseString, [String(s)]) => value(String(s.chars().rev().collect())),
        (StripPrefix, [String(s), String(t)]) => {
            let all = chars(s);
            value(if all.starts_with(&chars(t)) { text(&all[chars(t).len()..]) } else { String(s.clone()) })
        }
        (StripSuffix, [String(s), String(t)]) => {
            let all = chars(s);
            let rest = all.len() - if all.ends_with(&chars(t)) { chars(t).len() } else { 0 };
            value(text(&all[..rest]))
        }
        (Quote, [String(s)]) => value(String(quote(s))),
        (Wildcard | StrictWildcard, [String(_), String(p)]) if !is_wildcard(&chars(p)) => Err(No::Fails),
        (Wildcard, [String(s), String(p)]) => {
            value(Bool(wildcard(&chars(p), &chars(s), &|a, b| a.eq_ignore_ascii_case(&b))))
        }
        (StrictWildcard, [String(s), String(p)]) => value(Bool(wildcard(&chars(p), &chars(s), &|a, b| a == b))),
        (Format, [String(f), List(values)]) => format_text(f, values),
        _ => return patterns(b, args),
    })
}

fn joined(parts: &[Owned], by: &str) -> Judged {
    let mut all = Text::new();
    for (i, part) in parts.iter().enumerate() {
        let String(part) = part else { return Err(No::Fails) };
        all.push_str(if i > 0 { by } else { "" });
        all.push_str(part);
    }
    value(String(all))
}

/// The escapes that cel-go's `strings.quote` writes.
fn quote(text: &str) -> Text {
    let mut quoted = Text::from('"');
    for c in text.chars() {
        let escape = match c {
            '\u{7}' => 'a',
            '\u{8}' => 'b',
            '\u{c}' => 'f',
            '\n' => 'n',
            '\r' => 'r',
            '\t' => 't',
            '\u{b}' => 'v',
            '\\' | '"' => c,
            _ => {
                quoted.push(c);
                continue;
            }
        };
        quoted.extend(['\\', escape]);
    }
    quoted + "\""
}

/// A pattern of RE2 for the `regex` crate: classes are of ASCII, a brace that begins no repetition
/// is a character, and no repetition is repeated. Other differences are judged in `patterns::re2`.
fn of_re2(pattern: &str) -> Option<Text> {
    let unescaped = Regex::new(r"(?s)\\.").unwrap().replace_all(pattern, "a");
    if Regex::new(r"[*+?]\??[*+]|[*+?]\?\?").unwrap().is_match(&unescaped) {
        return None;
    }
    let brace = Regex::new(r"(?s)\\.|\{(?:[0-9]+(?:,[0-9]*)?\})?").unwrap();
    let pattern = brace.replace_all(pattern, |found: &regex::Captures<'_>| match &found[0] {
        "{" => r"\{".to_owned(),
        other => other.to_owned(),
    });
    let of_ascii = |text: Text, class: &&str| text.replace(class, &format!("(?-u:{class})"));
    Some([r"\d", r"\w", r"\b"].iter().fold(pattern.into_owned(), of_ascii))
}

fn patterns(b: B, args: &[Owned]) -> Option<Judged> {
    use B::*;
    let (String(s), String(p)) = (args.first()?, args.get(1)?) else { return None };
    if !matches!(b, Matches | RegexExtract | RegexExtractAll | RegexReplace | RegexReplaceFirst | RegexReplaceOnce) {
        return None;
    }
    // Octal numbers are characters in RE2, and nothing in the patterns of `regex`.
    if p.contains("\\0") {
        return Some(Err(No::Unjudged));
    }
    let Some(regex) = of_re2(p).and_then(|pattern| Regex::new(&pattern).ok()) else { return Some(Err(No::Fails)) };
    let groups = regex.captures_len() - 1;
    let part = |found: &regex::Captures<'_>| found.get(groups).map(|part| String(part.as_str().to_owned()));
    Some(match (b, args) {
        (Matches, _) => value(Bool(regex.is_match(s))),
        (RegexExtract | RegexExtractAll, _) if groups > 1 => Err(No::Fails),
        (RegexExtract, _) => value(Optional(regex.captures(s).and_then(|found| part(&found)).map(Box::new))),
        // A group that takes no part in a match has no text, or an empty one: cel-go leaves it out.
        (RegexExtractAll, _) => value(List(regex.captures_iter(s).filter_map(|found| part(&found)).collect())),
        (RegexReplace, [_, _, String(by)]) => replace_all(&regex, s, by, -1),
        (RegexReplaceFirst, [_, _, String(by), Int(n)]) => replace_all(&regex, s, by, *n),
        (RegexReplaceOnce, [_, _, String(by)]) => value(String(regex.replace(s, by.as_str()).into_owned())),
        _ => return None,
    })
}

/// In the replacement `\0` to `\9` are groups, and `\\` is a backslash.
fn replace_all(regex: &Regex, all: &str, by: &str, limit: i64) -> Judged {
    let (mut parts, mut rest) = (Vec::new(), by.chars());
    while let Some(c) = rest.next() {
        parts.push(match (c, if c == '\\' { rest.next() } else { None }) {
            ('\\', Some('\\')) => Err('\\'),
            ('\\', Some(digit)) => {
                let group = digit.to_digit(10).ok_or(No::Fails)? as usize;
                if group >= regex.captures_len() {
                    return Err(No::Fails);
                }
                Ok(group)
            }
            ('\\', None) => return Err(No::Fails),
            (c, _) => Err(c),
        });
    }
    let (mut result, mut end) = (Text::new(), 0);
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    for found in regex.captures_iter(all).take(most) {
        let whole = found.get(0).unwrap();
        result.push_str(&all[end..whole.start()]);
        for part in &parts {
            match part {
                Ok(group) => result.push_str(found.get(*group).map_or("", |part| part.as_str())),
                Err(c) => result.push(*c),
            }
        }
        end = whole.end();
    }
    result.push_str(&all[end..]);
    value(String(result))
}

/// The verbs of numbers and of text. Other values are written by other functions.
fn format_text(format: &str, values: &[Owned]) -> Judged {
    let (mut result, mut rest, mut values) = (Text::new(), format.chars().peekable(), values.iter());
    while let Some(c) = rest.next() {
        if c != '%' {
            result.push(c);
            continue;
        }
        let mut precision = None;
        if rest.next_if_eq(&'.').is_some() {
            let mut digits = Text::new();
            while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            // A great precision is refused, a missing one may be.
            precision = Some(digits.parse::<usize>().ok().filter(|n| *n <= 20).ok_or(No::Unjudged)?);
        }
        let verb = rest.next().ok_or(No::Fails)?;
        if verb == '%' {
            if precision.is_some() {
                return Err(No::Unjudged);
            }
            result.push('%');
            continue;
        }
        if !"sdfeboxX".contains(verb) {
            return Err(No::Fails);
        }
        if precision.is_some() && !"fe".contains(verb) {
            return Err(No::Unjudged);
        }
        result.push_str(&verb_text(verb, precision.unwrap_or(6), values.next().ok_or(No::Fails)?)?);
    }
    value(String(result))
}

fn verb_text(verb: char, precision: usize, argument: &Owned) -> Result<Text, No> {
    let sign = |negative: bool| if negative { "-" } else { "" };
    Ok(match (verb, argument) {
        ('s', String(s)) => s.clone(),
        ('s', Bool(b)) => b.to_string(),
        ('s' | 'd', Int(i)) => i.to_string(),
        ('s' | 'd', Uint(u)) => u.to_string(),
        ('s', Null) => "null".into(),
        ('b', Int(i)) => format!("{}{:b}", sign(*i < 0), i.unsigned_abs()),
        ('o', Int(i)) => format!("{}{:o}", sign(*i < 0), i.unsigned_abs()),
        ('x', Int(i)) => format!("{}{:x}", sign(*i < 0), i.unsigned_abs()),
        ('X', Int(i)) => format!("{}{:X}", sign(*i < 0), i.unsigned_abs()),
        ('b', Uint(u)) => format!("{u:b}"),
        ('o', Uint(u)) => format!("{u:o}"),
        ('x', Uint(u)) => format!("{u:x}"),
        ('X', Uint(u)) => format!("{u:X}"),
        ('b', Bool(b)) => u8::from(*b).to_string(),
        ('x', String(s)) => s.bytes().map(|byte| format!("{byte:02x}")).collect(),
        ('X', String(s)) => s.bytes().map(|byte| format!("{byte:02X}")).collect(),
        ('x', Bytes(b)) => b.iter().map(|byte| format!("{byte:02x}")).collect(),
        ('X', Bytes(b)) => b.iter().map(|byte| format!("{byte:02X}")).collect(),
        ('f', Double(d)) if d.is_finite() => format!("{d:.precision$}"),
        ('e', Double(d)) if d.is_finite() => {
            let written = format!("{d:.precision$e}");
            let (digits, exponent) = written.split_once('e').unwrap();
            let exponent: i32 = exponent.parse().unwrap();
            format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
        }
        ('f' | 'e' | 's' | 'd', _) => return Err(No::Unjudged),
        _ => return Err(No::Fails),
    })
}
