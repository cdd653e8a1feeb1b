//! Header maps, cookies and queries: RFC 9110, section 5.6.1, RFC 6265 and the forms of the `url` crate.

use super::values::find;
use super::{Judged, No, value};
use celero_frontend::stdlib::Builtin::{self as B};
use celero_tests::generate::Owned::{self, *};
use url::form_urlencoded;

type Text = std::string::String;

/// The lines of a header.
fn lines(value: &Owned) -> Vec<&str> {
    match value {
        String(line) => vec![line],
        List(lines) => {
            lines.iter().filter_map(|line| if let String(line) = line { Some(&**line) } else { None }).collect()
        }
        _ => Vec::new(),
    }
}

/// The members of a line: commas in quoted strings are part of a member, an unclosed quote is an ordinary character.
fn members(line: &str) -> Vec<Text> {
    let chars: Vec<char> = line.chars().collect();
    let (mut all, mut member, mut at) = (Vec::new(), Text::new(), 0);
    while at < chars.len() {
        let closed = (chars[at] == '"').then(|| quoted(&chars[at..])).flatten();
        match closed {
            Some(length) => {
                member.extend(&chars[at..at + length]);
                at += length;
            }
            None if chars[at] == ',' => {
                all.push(std::mem::take(&mut member));
                at += 1;
            }
            None => {
                member.push(chars[at]);
                at += 1;
            }
        }
    }
    all.push(member);
    all.iter().map(|member| member.trim_matches([' ', '\t']).to_owned()).filter(|member| !member.is_empty()).collect()
}

/// The length of a quoted string, with its quotes.
fn quoted(chars: &[char]) -> Option<usize> {
    let mut at = 1;
    loop {
        match chars.get(at)? {
            '"' => return Some(at + 1),
            '\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn each(map: &[(Owned, Owned)], change: impl Fn(&str, &Owned) -> Owned) -> Judged {
    let name = |key: &Owned| if let String(key) = key { key.clone() } else { Text::new() };
    value(Map(map.iter().map(|(key, value)| (key.clone(), change(&name(key), value))).collect()))
}

fn texts(parts: Vec<Text>) -> Owned {
    List(parts.into_iter().map(String).collect())
}

pub(super) fn judge(b: B, args: &[Owned]) -> Option<Judged> {
    use B::*;
    Some(match (b, args) {
        (RawMap | RawLists, [Map(m)]) => {
            each(m, |_, value| texts(lines(value).into_iter().map(str::to_owned).collect()))
        }
        (JoinMap | JoinLists, [Map(m)]) => each(m, |_, value| String(lines(value).join(","))),
        (SplitMap | SplitLists, [Map(m)]) => each(m, |name, value| match name {
            "set-cookie" => texts(lines(value).into_iter().map(str::to_owned).collect()),
            _ => texts(lines(value).into_iter().flat_map(members).collect()),
        }),
        (RedactedMap | RedactedLists, [Map(m)]) => each(m, |name, value| {
            let hidden = ["authorization", "cookie", "set-cookie", "proxy-authorization", "x-api-key"].contains(&name);
            match value {
                _ if !hidden => value.clone(),
                List(_) => List(vec![String("<redacted>".into())]),
                _ => String("<redacted>".into()),
            }
        }),
        (CookieOfMap | CookieOfLists, [Map(m), String(name)]) => {
            let lines = find(m, &String("cookie".into())).map(lines).unwrap_or_default();
            let pairs = lines.iter().flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
            let mut found = pairs.filter(|(other, _)| other.trim_matches([' ', '\t']) == name);
            found.next().map(|(_, value)| String(value.trim_matches([' ', '\t']).into())).ok_or(No::Fails)
        }
        (Query, [String(uri), String(name)]) => {
            let values = form_urlencoded::parse(query(uri).as_bytes()).filter(|(other, _)| other == name);
            value(texts(values.map(|(_, value)| value.into_owned()).collect()))
        }
        (FormDecode, [String(s)]) => {
            let mut map: Vec<(Owned, Owned)> = Vec::new();
            for (key, text) in form_urlencoded::parse(s.as_bytes()) {
                let (key, text) = (String(key.into_owned()), String(text.into_owned()));
                match map.iter_mut().find(|(other, _)| other.same(&key)) {
                    Some((_, List(all))) => all.push(text),
                    Some((_, one)) => *one = List(vec![one.clone(), text]),
                    None => map.push((key, text)),
                }
            }
            value(Map(map))
        }
        (FormEncode, [Map(m)]) => form(m).map(String),
        _ => return None,
    })
}

/// The query of a URI, or a text that is one.
fn query(uri: &str) -> &str {
    let scheme = uri.split_once("://").is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    if !scheme && !uri.starts_with(['/', '?']) {
        return uri;
    }
    let uri = uri.split_once('#').map_or(uri, |(uri, _)| uri);
    uri.split_once('?').map_or("", |(_, query)| query)
}

fn form(map: &[(Owned, Owned)]) -> Result<Text, No> {
    let mut pairs = Vec::new();
    for (key, value) in map {
        let String(key) = key else { return Err(No::Unjudged) };
        let values = if let List(values) = value { &values[..] } else { std::slice::from_ref(value) };
        for value in values {
            let text = match value {
                Null => continue,
                String(s) => s.clone(),
                Bool(b) => b.to_string(),
                Int(i) => i.to_string(),
                Uint(u) => u.to_string(),
                List(_) | Map(_) => return Err(No::Fails),
                _ => return Err(No::Unjudged),
            };
            pairs.push((key.clone(), text));
        }
    }
    pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(form_urlencoded::Serializer::new(Text::new()).extend_pairs(pairs).finish())
}
