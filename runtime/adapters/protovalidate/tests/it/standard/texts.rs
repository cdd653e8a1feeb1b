//! Texts and bytes.

use super::{Case, case};

/// Formats of texts: what they accept, and what they refuse.
const FORMATS: &[(&str, &[&str], &[&str])] = &[
    ("email", &["a@b", "foo.bar+1@example.com", "a@xn--e1afmkfd"], &["a", "a@", "@b", "a b@c", "a@b@c", "a@-b"]),
    ("hostname", &["a", "example.com", "EXAMPLE.com.", "a-1.b2"], &["-a", "a_b", "a..b", "127.0.0.1", "é"]),
    ("ip", &["1.2.3.4", "::1", "2001:db8::ff00:42:8329"], &["1.2.3", "256.1.1.1", "01.2.3.4", ":::", "[::1]"]),
    ("ipv4", &["0.0.0.0", "255.255.255.255"], &["::1", "1.2.3.4.5", "1.2.3.4 ", "1.2.3.04"]),
    ("ipv6", &["::", "::ffff:1.2.3.4", "fe80::1%eth0"], &["1.2.3.4", "1:2:3:4:5:6:7:8:9", "g::", "::1%"]),
    ("uri", &["https://a/b?c#d", "urn:x", "mailto:a@b"], &["/a", "a", "https://a b", "1a:b", "https://[::1"]),
    ("uri_ref", &["/a", "", "?q", "https://a/b", "./a"], &["\\\\a", "a b", "%zz"]),
    ("address", &["example.com", "1.2.3.4", "::1"], &["a_b", "[::1]", "1.2.3.4:5"]),
    (
        "uuid",
        &[
            "123e4567-e89b-12d3-a456-426614174000",
            "00000000-0000-0000-0000-000000000000",
            "ABCDEFAB-0000-0000-0000-ABCDEFABCDEF",
        ],
        &[
            "123e4567e89b12d3a456426614174000",
            "123e4567-e89b-12d3-a456-42661417400g",
            "{123e4567-e89b-12d3-a456-426614174000}",
        ],
    ),
    (
        "tuuid",
        &["123e4567e89b12d3a456426614174000", "ABCDEFABCDEFABCDEFABCDEFABCDEFAB"],
        &[
            "123e4567-e89b-12d3-a456-426614174000",
            "123e4567e89b12d3a45642661417400",
            "123e4567e89b12d3a4564266141740000",
        ],
    ),
    (
        "ip_with_prefixlen",
        &["10.0.0.1/8", "::1/64", "0.0.0.0/0"],
        &["10.0.0.1", "10.0.0.1/33", "::1/129", "10.0.0.1/08"],
    ),
    ("ipv4_with_prefixlen", &["10.0.0.1/8", "10.0.0.1/32"], &["::1/64", "10.0.0.1/", "10.0.0/8"]),
    ("ipv6_with_prefixlen", &["::1/64", "::/0"], &["10.0.0.1/8", "::1", "fe80::1%eth0/64"]),
    ("ip_prefix", &["10.0.0.0/8", "2001:db8::/32", "1.2.3.4/32"], &["10.0.0.1/8", "::1/64", "10.0.0.0"]),
    ("ipv4_prefix", &["10.0.0.0/8", "0.0.0.0/0"], &["10.1.0.0/8", "::/0"]),
    ("ipv6_prefix", &["::/0", "2001:db8::/32"], &["2001:db8::1/32", "10.0.0.0/8"]),
    ("host_and_port", &["a:1", "1.2.3.4:65535", "[::1]:80"], &["a", "a:", "a:65536", "::1:80", "a:01", "[::1]"]),
    (
        "ulid",
        &["01ARZ3NDEKTSV4RRFFQ69G5FAV", "7zzzzzzzzzzzzzzzzzzzzzzzzz"],
        &["81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAI"],
    ),
    ("protobuf_fqn", &["a", "_a.B1.c"], &[".a", "a.", "1a", "a..b", "a-b"]),
    ("protobuf_dot_fqn", &[".a", "._a.B1"], &["a", ".", ".a.", ".1"]),
];

fn strings() -> Vec<Case> {
    let of = |rules: &str, valid: &[&str], invalid: &[(&str, &'static str)]| {
        let quoted = |text: &str| format!("\"{text}\"");
        let valid: Vec<String> = valid.iter().map(|text| quoted(text)).collect();
        let invalid: Vec<(String, &'static str)> = invalid.iter().map(|(text, id)| (quoted(text), *id)).collect();
        let valid: Vec<&str> = valid.iter().map(String::as_str).collect();
        let invalid: Vec<(&str, &'static str)> = invalid.iter().map(|(text, id)| (text.as_str(), *id)).collect();
        case("string", "string", rules, &valid, &invalid)
    };
    let mut all = vec![
        of("const: 'a'", &["a"], &[("b", "const"), ("", "const")]),
        // Characters, not bytes, nor what people see as one character.
        of("len: 2", &["ab", "éß", "e\\xCC\\x81"], &[("a", "len"), ("abc", "len"), ("é", "len")]),
        of("min_len: 2", &["ab", "abc"], &[("é", "min_len"), ("", "min_len")]),
        of("max_len: 2", &["", "éß"], &[("abc", "max_len")]),
        of("len_bytes: 4", &["abcd", "éß"], &[("abc", "len_bytes"), ("éßa", "len_bytes")]),
        of("min_bytes: 4", &["abcd", "éß"], &[("abc", "min_bytes")]),
        of("max_bytes: 4", &["", "éß"], &[("éßa", "max_bytes")]),
        of("pattern: '^[a-z]+$'", &["a", "abc"], &[("", "pattern"), ("aB", "pattern"), ("a\\n", "pattern")]),
        of("pattern: '(?i)a'", &["xAx"], &[("b", "pattern")]),
        of("prefix: 'ab'", &["ab", "abc"], &[("a", "prefix"), ("cab", "prefix")]),
        of("suffix: 'ab'", &["ab", "cab"], &[("abc", "suffix")]),
        of("contains: 'ab'", &["ab", "cabc"], &[("acb", "contains")]),
        of("not_contains: 'ab'", &["", "acb"], &[("cabc", "not_contains")]),
        of("in: ['a', 'b']", &["a", "b"], &[("", "in"), ("ab", "in")]),
        of("not_in: ['a', 'b']", &["", "ab"], &[("a", "not_in")]),
        of("example: ['a']", &["", "b"], &[]),
        of("well_known_regex: KNOWN_REGEX_UNSPECIFIED", &["", "a b"], &[]),
        of(
            "well_known_regex: KNOWN_REGEX_HTTP_HEADER_NAME",
            &["x-a", ":path", "A_b.c~1", "x+`|"],
            &[
                ("", "well_known_regex.header_name_empty"),
                ("a b", "well_known_regex.header_name"),
                ("a:", "well_known_regex.header_name"),
                ("é", "well_known_regex.header_name"),
            ],
        ),
        of(
            "well_known_regex: KNOWN_REGEX_HTTP_HEADER_NAME strict: false",
            &["a b", "é:"],
            &[("a\\nb", "well_known_regex.header_name"), ("", "well_known_regex.header_name_empty")],
        ),
        of(
            "well_known_regex: KNOWN_REGEX_HTTP_HEADER_VALUE",
            &["", "a\\tb", "é x"],
            &[("a\\nb", "well_known_regex.header_value"), ("\\x7f", "well_known_regex.header_value")],
        ),
        of(
            "well_known_regex: KNOWN_REGEX_HTTP_HEADER_VALUE strict: false",
            &["", "\\x7f", "\\x01"],
            &[("a\\rb", "well_known_regex.header_value"), ("\\x00", "well_known_regex.header_value")],
        ),
        of(
            "well_known_regex: KNOWN_REGEX_HTTP_HEADER_VALUE strict: true",
            &["a"],
            &[("\\x01", "well_known_regex.header_value")],
        ),
        case("string", "google.protobuf.StringValue", "min_len: 1", &["{value: 'a'}"], &[("{}", "min_len")]),
    ];
    for (name, valid, invalid) in FORMATS {
        let rules = format!("{name}: true");
        let mut refused: Vec<(&str, &'static str)> = invalid.iter().map(|text| (*text, *name)).collect();
        if let Some(empty) = EMPTY.iter().find(|empty| empty.strip_suffix("_empty") == Some(name)) {
            refused.push(("", empty));
        }
        all.push(of(&rules, valid, &refused));
        // A switch that is off refuses nothing.
        all.push(of(&format!("{name}: false"), &[invalid.first().copied().unwrap_or_default(), ""], &[]));
    }
    all
}

/// The identifiers of empty texts.
const EMPTY: [&str; 19] = [
    "email_empty",
    "hostname_empty",
    "ip_empty",
    "ipv4_empty",
    "ipv6_empty",
    "uri_empty",
    "address_empty",
    "uuid_empty",
    "tuuid_empty",
    "ip_with_prefixlen_empty",
    "ipv4_with_prefixlen_empty",
    "ipv6_with_prefixlen_empty",
    "ip_prefix_empty",
    "ipv4_prefix_empty",
    "ipv6_prefix_empty",
    "host_and_port_empty",
    "ulid_empty",
    "protobuf_fqn_empty",
    "protobuf_dot_fqn_empty",
];

fn bytes() -> Vec<Case> {
    let of =
        |rules: &str, valid: &[&str], invalid: &[(&str, &'static str)]| case("bytes", "bytes", rules, valid, invalid);
    let sixteen = "'0123456789abcdef'";
    vec![
        of("const: 'a\\xff'", &["'a\\xff'"], &[("'a'", "const"), ("''", "const")]),
        of("len: 2", &["'ab'", "'é'"], &[("'a'", "len"), ("'abc'", "len")]),
        of("min_len: 2", &["'ab'", "'\\xff\\xfe\\xfd'"], &[("'a'", "min_len")]),
        of("max_len: 2", &["''", "'ab'"], &[("'abc'", "max_len")]),
        of("pattern: '^[a-z]+$'", &["'abc'"], &[("'aB'", "pattern"), ("''", "pattern")]),
        of("prefix: '\\xff'", &["'\\xffa'"], &[("'a\\xff'", "prefix"), ("''", "prefix")]),
        of("suffix: '\\xff'", &["'a\\xff'"], &[("'\\xffa'", "suffix")]),
        of("contains: '\\xff\\x00'", &["'a\\xff\\x00b'"], &[("'\\xffa\\x00'", "contains")]),
        // The standard rules write the list as text.
        of("in: ['a', '\\x00']", &["'a'", "'\\x00'"], &[("''", "in"), ("'b'", "in"), ("'\\xff'", "in")]),
        of("not_in: ['a', '\\x00']", &["''", "'b'", "'\\xff'"], &[("'\\x00'", "not_in")]),
        of("example: ['a']", &["''", "'b'"], &[]),
        of("ip: true", &["'abcd'", sixteen], &[("'abcde'", "ip"), ("''", "ip_empty")]),
        of("ipv4: true", &["'abcd'"], &[(sixteen, "ipv4"), ("''", "ipv4_empty")]),
        of("ipv6: true", &[sixteen], &[("'abcd'", "ipv6"), ("''", "ipv6_empty")]),
        of("uuid: true", &[sixteen], &[("'abcd'", "uuid"), ("''", "uuid_empty")]),
        of("uuid: false", &["'abcd'", "''"], &[]),
        case("bytes", "google.protobuf.BytesValue", "min_len: 1", &["{value: 'a'}"], &[("{}", "min_len")]),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    strings().into_iter().chain(bytes()).collect()
}
