//! The operations of each class of kinds: expressions, `@` being the field, and the same in Rust,
//! for all Rust types of the class. [`fields`](super::fields) expands these macros, and imports
//! what they name.

macro_rules! truth {
    ($kind:tt) => {
        cells! { $kind x c;
            "@" => x;
            "!@" => !x;
            "@ == flag" => x == c.flag;
            "@ != off" => x != c.off;
            "@ > off" => x & !c.off;
            "(@ ? i64 : small) == 41" => (if x { c.i64 } else { c.small }) == 41;
            "@ || i64 > 99" => x || c.i64 > 99;
            "@ in flags" => c.flags.contains(&x);
            "string(@) == 'true'" => x.to_string() == "true";
        }
    };
}

macro_rules! int {
    ($kind:tt) => {
        cells! { $kind n c;
            "@ == 41" => n == 41;
            "@ >= 18" => n >= 18;
            "@ != small" => n != c.small;
            "@ < small" => n < c.small;
            "@ < f64" => (n as f64) < c.f64;
            "@ >= u64" => u64::try_from(n).is_ok_and(|n| n >= c.u64);
            "@ + 1 == 42" => n.checked_add(1)? == 42;
            "@ - small == 38" => n.checked_sub(c.small)? == 38;
            "@ * small == 123" => n.checked_mul(c.small)? == 123;
            "@ / small == 13" => n.checked_div(c.small)? == 13;
            "@ % 16 == 9" => n % 16 == 9;
            "-@ == -41" => n.checked_neg()? == -41;
            "@ in [1, 5, 41, 99]" => matches!(n, 1 | 5 | 41 | 99);
            "@ in [small, i64]" => n == c.small || n == c.i64;
            "@ in nums" => c.nums.contains(&n);
            "(@ > 10 ? @ : 10) == 41" => n.max(10) == 41;
            "string(@) == '41'" => n.to_string() == "41";
            "double(@) > 40.5" => n as f64 > 40.5;
            "uint(@) == 41u" => u64::try_from(n).ok()? == 41;
        }
    };
}

macro_rules! uint {
    ($kind:tt) => {
        cells! { $kind n c;
            "@ == 41u" => n == 41;
            "@ >= 18u" => n >= 18;
            "@ > small_uint" => n > c.small_uint;
            "@ > small" => i64::try_from(n).map_or(true, |n| n > c.small);
            "@ + 1u == 42u" => n.checked_add(1)? == 42;
            "@ - small_uint == 38u" => n.checked_sub(c.small_uint)? == 38;
            "@ * small_uint == 123u" => n.checked_mul(c.small_uint)? == 123;
            "@ / 3u == 13u" => n / 3 == 13;
            "@ % 16u == 9u" => n % 16 == 9;
            "@ in [1u, 5u, 41u, 99u]" => matches!(n, 1 | 5 | 41 | 99);
            "@ in uints" => c.uints.contains(&n);
            "string(@) == '41'" => n.to_string() == "41";
            "int(@) == 41" => i64::try_from(n).ok()? == 41;
        }
    };
}

macro_rules! double {
    ($kind:tt) => {
        cells! { $kind x c;
            "@ == 2.5" => x == 2.5;
            "@ > 2.0" => x > 2.0;
            "@ <= small_double" => x <= c.small_double;
            "@ > small" => x > c.small as f64;
            "@ * 2.0 > 4.9" => x * 2.0 > 4.9;
            "@ + small_double == 3.0" => x + c.small_double == 3.0;
            "@ - small_double / 2.0 == 2.25" => x - c.small_double / 2.0 == 2.25;
            "@ in [1.5, 2.5]" => x == 1.5 || x == 2.5;
            "@ in doubles" => c.doubles.contains(&x);
            "int(@) == 2" => x as i64 == 2;
            "string(@) == '2.5'" => x.to_string() == "2.5";
            "math.floor(@) == 2.0" => x.floor() == 2.0;
        }
    };
}

macro_rules! text {
    ($kind:tt) => {
        cells! { $kind t c;
            "@ == 'Hello, World of Rules/and Paths'" => t == TEXT;
            "@ == word" => t == c.word;
            "@ < word" => t < c.word;
            "@ in ['a', 'Hello', 'Hello, World of Rules/and Paths']" => matches!(t, "a" | "Hello" | TEXT);
            "@ in tags" => c.tags.iter().any(|tag| tag == t);
            "@ in hash_set" => c.hash_set.contains(t);
            "@ in labels" => c.labels.contains_key(t);
            "size(@) > 20" => t.chars().count() > 20;
            "@ != ''" => !t.is_empty();
            "@.contains('World')" => finder!("World").find(t.as_bytes()).is_some();
            "@.contains(word)" => t.contains(c.word);
            "@.startsWith('Hello')" => t.starts_with("Hello");
            "@.startsWith(word)" => t.starts_with(c.word);
            "@.endsWith('Paths')" => t.ends_with("Paths");
            "@.matches('^Hello, [A-Z][a-z]+')" => regex!("^Hello, [A-Z][a-z]+").is_match(t);
            "@ + '!' == word" => format!("{t}!") == c.word;
            "@.lowerAscii().contains('world')" => t.to_ascii_lowercase().contains("world");
            "@.split('/').size() == 2" => t.split('/').count() == 2;
            "@.substring(7, 12) == 'World'" => t.chars().skip(7).take(5).eq("World".chars());
            "@.replace('World', 'x').startsWith('Hello, x')" => t.replace("World", "x").starts_with("Hello, x");
            "@.indexOf('/') > 0" => t.find('/').is_some_and(|at| at > 0);
            "@.trim() == word" => t.trim() == c.word;
        }
    };
}

/// Text of a type that can't hold any text: a method, an address with a port.
macro_rules! label {
    ($kind:tt $text:literal) => {
        cells! { $kind t c;
            concat!("@ == '", $text, "'") => t == $text;
            "@ != word" => t != c.word;
            concat!("@ in ['a', 'b', '", $text, "']") => matches!(t, "a" | "b" | $text);
            "@ in tags" => c.tags.iter().any(|tag| tag == t);
            "size(@) > 3" => t.chars().count() > 3;
            "@.startsWith('http')" => t.starts_with("http");
            "@.contains(word)" => t.contains(c.word);
            "@ + word == 'x'" => format!("{t}{}", c.word) == "x";
        }
    };
}

macro_rules! bytes {
    ($kind:tt) => {
        cells! { $kind b c;
            "@ == b'sixteen bytes ok'" => b == BYTES;
            "@ != piece" => b != c.piece;
            "@ > piece" => b > c.piece;
            "size(@) == 16" => b.len() == 16;
            "@ in pieces" => c.pieces.iter().any(|piece| piece == b);
            "size(@ + piece) == 21" => [b, c.piece].concat().len() == 21;
            "string(@) == 'sixteen bytes ok'" => std::str::from_utf8(b).ok()? == "sixteen bytes ok";
        }
    };
}

macro_rules! address {
    ($kind:tt) => {
        cells! { $kind ip c;
            "@ == '10.1.2.3'" => ip == IpAddr::from([10, 1, 2, 3]);
            "@ == address" => ip.to_string() == c.address;
            "@ in ['10.1.2.3', '10.1.2.4']" => ip == IpAddr::from([10, 1, 2, 3]) || ip == IpAddr::from([10, 1, 2, 4]);
            "ip(@) == ip('10.1.2.3')" => ip == IpAddr::from([10, 1, 2, 3]);
            "cidr('10.0.0.0/8').containsIP(@)" => net!("10.0.0.0/8").contains(&ip);
            "cidr(network).containsIP(@)" => c.network.parse::<ipnet::IpNet>().ok()?.contains(&ip);
            "ip(@).family() == 4" => ip.is_ipv4();
            "ip(@).isLoopback()" => ip.is_loopback();
            "@.startsWith('10.')" => ip.to_string().starts_with("10.");
        }
    };
}

macro_rules! socket {
    ($kind:tt) => {
        cells! { $kind s c;
            "@.address == '10.1.2.3'" => s.ip().to_canonical() == IpAddr::from([10, 1, 2, 3]);
            "cidr('10.0.0.0/8').containsIP(@.address)" => net!("10.0.0.0/8").contains(&s.ip().to_canonical());
            "@.port == 443" => s.port() == 443;
            "@.port > small" => i64::from(s.port()) > c.small;
        }
    };
}

/// Times as nanoseconds since 1970.
macro_rules! time {
    ($kind:tt) => { cells! { $kind t c;
        "@ > timestamp('2020-01-01T00:00:00Z')" => t > 1_577_836_800_000_000_000;
        "@ == time" => t == c.time.seconds * 1_000_000_000 + c.time.nanos;
        "@ + duration('1h') > time" => t + 3_600_000_000_000 > c.time.seconds * 1_000_000_000 + c.time.nanos;
        "@ - span < time" => t - c.span.0 < c.time.seconds * 1_000_000_000 + c.time.nanos;
        "@ - timestamp('2020-01-01T00:00:00Z') > duration('1h')" => t - 1_577_836_800_000_000_000 > 3_600_000_000_000;
        "@.getFullYear() == 2023" => zoned(t, &jiff::tz::TimeZone::UTC)?.year() == 2023;
        "@.getHours() >= 22" => t.rem_euclid(86_400_000_000_000) / 3_600_000_000_000 >= 22;
        "@.getDayOfWeek() == 2" => (t.div_euclid(86_400_000_000_000) + 4).rem_euclid(7) == 2;
        "@.getHours('Europe/Paris') == 23" => zoned(t, paris())?.hour() == 23;
        "int(@) == 1700000000" => t.div_euclid(1_000_000_000) == 1_700_000_000;
        "string(@) == '2023-11-14T22:13:20Z'" => zoned(t, &jiff::tz::TimeZone::UTC)?.timestamp().to_string() == "2023-11-14T22:13:20Z";
    } };
}

/// Spans of time as nanoseconds.
macro_rules! span {
    ($kind:tt) => {
        cells! { $kind d c;
            "@ > duration('1m')" => d > 60_000_000_000;
            "@ == span" => d == c.span.0;
            "@ + span == duration('180s')" => d + c.span.0 == 180_000_000_000;
            "@ - duration('1s') < span" => d - 1_000_000_000 < c.span.0;
            "@.getSeconds() == 90" => d / 1_000_000_000 == 90;
            "@ in spans" => c.spans.iter().any(|span| span.0 == d);
            "string(@) == '90s'" => celero::values::Duration(d).to_string() == "90s";
        }
    };
}

macro_rules! int_list {
    ($kind:tt) => { cells! { $kind v c;
        "7 in @" => v.iter().any(|x| i64::from(*x) == 7);
        "i64 in @" => v.iter().any(|x| i64::from(*x) == c.i64);
        "@[3] == 3" => *v.get(3)? == 3;
        "@[small] == 3" => *v.get(usize::try_from(c.small).ok()?)? == 3;
        "size(@) == 16" => v.len() == 16;
        "@ == nums" => v.iter().map(|x| i64::from(*x)).eq(c.nums.iter().copied());
        "@.exists(x, x > 14)" => v.iter().any(|x| *x > 14);
        "@.all(x, x >= 0)" => v.iter().all(|x| *x >= 0);
        "@.exists_one(x, x == small)" => v.iter().filter(|x| i64::from(**x) == c.small).count() == 1;
        "@.filter(x, x > 7).size() == 8" => v.iter().filter(|x| **x > 7).count() == 8;
        "@.map(x, x * 2).size() == 16" => v.iter().map(|x| x * 2).collect::<Vec<_>>().len() == 16;
        "@.map(x, x > 3, x * 2)[0] == 8" => v.iter().filter(|x| **x > 3).map(|x| x * 2).next()? == 8;
        "@.exists(i, x, i == 9 && x == 9)" => v.iter().enumerate().any(|(i, x)| i == 9 && *x == 9);
        "size(@ + nums) == 32" => v.iter().map(|x| i64::from(*x)).chain(c.nums.iter().copied()).collect::<Vec<_>>().len() == 32;
        "@.slice(2, 4)[0] == 2" => *v.get(2)? == 2 && v.len() >= 4;
        "@.reverse()[0] == 15" => *v.iter().next_back()? == 15;
        "@.first().value() == 0" => *v.iter().next()? == 0;
        "@.last().orValue(1) == 15" => v.iter().next_back().map_or(1, |x| i64::from(*x)) == 15;
        "sets.contains(@, [3, 4])" => v.iter().any(|x| *x == 3) && v.iter().any(|x| *x == 4);
    } };
}

macro_rules! truths {
    ($kind:tt) => {
        cells! { $kind v c;
            "@[1]" => *v.get(1)?;
            "flag in @" => v.contains(&c.flag);
            "@.exists(x, x)" => v.iter().any(|x| *x);
            "size(@) == 2" => v.len() == 2;
        }
    };
}

macro_rules! text_list {
    ($kind:tt) => { cells! { $kind v c;
        "'tag6' in @" => v.iter().any(|t| is(t, "tag6"));
        "word in @" => v.iter().any(|t| is(t, c.word));
        "@[3] == 'tag3'" => is(v.get(3)?, "tag3");
        "@[small] == 'tag3'" => is(v.get(usize::try_from(c.small).ok()?)?, "tag3");
        "size(@) == 8" => v.len() == 8;
        "@ == tags" => v.len() == c.tags.len() && v.iter().zip(&c.tags).all(|(a, b)| is(a, b));
        "@.exists(t, t.startsWith('tag7'))" => v.iter().any(|t| t.starts_with("tag7"));
        "@.exists(t, t == word)" => v.iter().any(|t| is(t, c.word));
        "@.all(t, t != '')" => v.iter().all(|t| !t.is_empty());
        "@.exists_one(t, t.endsWith('3'))" => v.iter().filter(|t| t.ends_with('3')).count() == 1;
        "@.filter(t, t.endsWith('6')).size() == 1" => v.iter().filter(|t| t.ends_with('6')).count() == 1;
        "@.map(t, t + '!')[7] == 'tag7!'" => *v.iter().map(|t| format!("{t}!")).collect::<Vec<_>>().get(7)? == "tag7!";
        "@.join(',').contains('tag6,')" => joined(v.iter(), ",").contains("tag6,");
        "@.exists(i, t, i == 5 && t == 'tag5')" => v.iter().enumerate().any(|(i, t)| i == 5 && is(t, "tag5"));
        "sets.intersects(@, ['a', 'tag7'])" => v.iter().any(|t| is(t, "a") || is(t, "tag7"));
    } };
}

macro_rules! structs {
    ($kind:tt) => {
        cells! { $kind v c;
            "@.exists(u, u.healthy && u.weight > 5)" => v.iter().any(|u| u.healthy && u.weight > 5);
            "@.all(u, u.weight >= 0)" => v.iter().all(|u| u.weight >= 0);
            "@.exists(u, u.name == word)" => v.iter().any(|u| u.name == c.word);
            "@.exists(u, u.zone.rank == 7)" => v.iter().any(|u| u.zone.rank == 7);
            "@.filter(u, u.healthy).size() == 1" => v.iter().filter(|u| u.healthy).count() == 1;
            "@.map(u, u.name)[3] == 'u3'" => *v.iter().map(|u| &u.name).collect::<Vec<_>>().get(3)? == "u3";
            "@[2].name == 'u2'" => v.get(2)?.name == "u2";
            "@[small].zone.region == 'r3'" => v.get(usize::try_from(c.small).ok()?)?.zone.region == "r3";
            "size(@) == 8" => v.len() == 8;
        }
    };
}

macro_rules! int_set {
    ($kind:tt) => {
        cells! { $kind v c;
            "7 in @" => v.contains(&7);
            "i64 in @" => v.contains(&c.i64);
            "size(@) == 16" => v.len() == 16;
            "@.exists(x, x > 14)" => v.iter().any(|x| *x > 14);
        }
    };
}

macro_rules! text_set {
    ($kind:tt) => {
        cells! { $kind v c;
            "'tag6' in @" => v.contains("tag6");
            "word in @" => v.contains(c.word);
            "size(@) == 8" => v.len() == 8;
            "@.exists(t, t.startsWith('tag7'))" => v.iter().any(|t| t.starts_with("tag7"));
            "@.all(t, t.size() == 4)" => v.iter().all(|t| t.chars().count() == 4);
        }
    };
}

macro_rules! text_map {
    ($kind:tt) => { cells! { $kind m c;
        "@['key7'] == 'value7'" => m.get("key7")? == "value7";
        "@[key] == 'value7'" => m.get(c.key)? == "value7";
        "@.key7 == 'value7'" => m.get("key7")? == "value7";
        "'key7' in @" => m.contains_key("key7");
        "word in @" => m.contains_key(c.word);
        "has(@.key7)" => m.contains_key("key7");
        "size(@) == 12" => m.len() == 12;
        "@[?'none'].orValue('d') == 'd'" => m.get("none").map_or("d", String::as_str) == "d";
        "@.?key7.orValue('') == 'value7'" => m.get("key7").map_or("", String::as_str) == "value7";
        "default(@['none'], 'd') == 'd'" => m.get("none").map_or("d", String::as_str) == "d";
        "@.exists(k, k == 'key11')" => m.keys().any(|k| k == "key11");
        "@.exists(k, @[k] == 'value11')" => m.values().any(|v| v == "value11");
        "@.exists(k, v, v == 'value11')" => m.values().any(|v| v == "value11");
        "@.all(k, k.startsWith('key'))" => m.keys().all(|k| k.starts_with("key"));
        "@.filter(k, k.endsWith('1')).size() == 2" => m.keys().filter(|k| k.ends_with('1')).count() == 2;
        "@.map(k, k + '!').size() == 12" => m.keys().map(|k| format!("{k}!")).collect::<Vec<_>>().len() == 12;
        "@.mapValues(v, v + '!')['key7'] == 'value7!'" =>
            m.iter().map(|(k, v)| (k, format!("{v}!"))).collect::<HashMap<_, _>>().get(&"key7".to_owned())? == "value7!";
        "@.filterKeys(k, k > 'key8').size() == 1" => m.keys().filter(|k| k.as_str() > "key8").count() == 1;
        "@ == labels" => m.len() == c.labels.len() && m.iter().all(|(k, v)| c.labels.get(k) == Some(v));
    } };
}

macro_rules! int_map {
    ($kind:tt) => {
        cells! { $kind m c;
            "@[7] == 49" => *m.get(&7)? == 49;
            "@[small] == 9" => *m.get(&c.small)? == 9;
            "7 in @" => m.contains_key(&7);
            "size(@) == 12" => m.len() == 12;
            "@.exists(k, v, v == 121)" => m.values().any(|v| *v == 121);
        }
    };
}

macro_rules! nested {
    ($kind:tt) => {
        cells! { $kind u c;
            "@.name == 'u6'" => u.name == "u6";
            "@.healthy" => u.healthy;
            "@.weight > small" => u.weight > c.small;
            "@.zone.rank == 6" => u.zone.rank == 6;
            "@.zone.region == word" => u.zone.region == c.word;
            "has(@.zone.region)" => { let _present = u; true };
        }
    };
}

macro_rules! headers {
    ($kind:tt) => {
        cells! { $kind h c;
            "@['x-num'] == '42'" => h.get(name!("x-num"))? == "42";
            "@[header_key] == '42'" => h.get(c.header_key)? == "42";
            "'x-num' in @" => h.contains_key(name!("x-num"));
            "has(@.cookie)" => h.contains_key(name!("cookie"));
            "int(@['x-num']) > 40" => h.get(name!("x-num"))?.to_str().ok()?.parse::<i64>().ok()? > 40;
            "@['x-h3'].startsWith('v')" => h.get(name!("x-h3"))?.as_bytes().starts_with(b"v");
            "@[?'none'].orValue('') == ''" => h.get(name!("none")).map_or(&b""[..], |v| v.as_bytes()).is_empty();
            "default(@['none'], 'd') == 'd'" => h.get(name!("none")).map_or(&b"d"[..], |v| v.as_bytes()) == b"d";
            "size(@) == 12" => h.keys_len() == 12;
            "@.exists(k, k == 'x-num')" => h.keys().any(|k| k == "x-num");
            "@.exists(k, v, v == '42')" => h.values().any(|v| v == "42");
            "@.cookie('id') == '7'" => cookie(h.get(name!("cookie"))?.to_str().ok()?, "id")? == "7";
        }
    };
}

/// Documents. An index of `serde_json::Value` gives null for what is absent, as an expert would use it.
macro_rules! json {
    ($kind:tt) => { cells! { $kind d c;
        "@.user.age >= 18" => d["user"]["age"].as_i64()? >= 18;
        "@.user.name == 'ada'" => d["user"]["name"].as_str()? == "ada";
        "@['user']['score'] > small_double" => d["user"]["score"].as_f64()? > c.small_double;
        "'admin' in @.user.groups" => d["user"]["groups"].as_array()?.iter().any(|g| g == "admin");
        "@.user.groups[1] == 'admin'" => d["user"]["groups"][1] == "admin";
        "has(@.user.email)" => d["user"].get("email").is_some();
        "'user' in @" => d.get("user").is_some();
        "size(@.items) == 40" => d["items"].as_array()?.len() == 40;
        "@.items.exists(i, i.id == 39)" => d["items"].as_array()?.iter().any(|i| i["id"] == 39);
        "@.items.filter(i, i.on).size() == 20" => d["items"].as_array()?.iter().filter(|i| i["on"] == true).count() == 20;
        "@.items.all(i, i.name.startsWith('item'))" =>
            d["items"].as_array()?.iter().all(|i| i["name"].as_str().is_some_and(|name| name.starts_with("item")));
        "@.items[small].name == 'item number 3'" => d["items"][usize::try_from(c.small).ok()?]["name"] == "item number 3";
    } };
}

macro_rules! any_map {
    ($kind:tt) => {
        cells! { $kind m c;
            "@.user.age >= 18" => m.get("user")?["age"].as_i64()? >= 18;
            "'user' in @" => m.contains_key("user");
            "word in @" => m.contains_key(c.word);
            "size(@) == 2" => m.len() == 2;
            "@.exists(k, k == 'items')" => m.keys().any(|k| k == "items");
        }
    };
}

macro_rules! status {
    ($kind:tt) => {
        cells! { $kind n c;
            "@ == 404" => n == 404;
            "@ >= 400 && @ < 500" => (400..500).contains(&n);
            "@ in [404, 410]" => n == 404 || n == 410;
            "@ > small" => n > c.small;
        }
    };
}

/// Of the operands of others.
macro_rules! nothing {
    ($kind:tt) => {};
}

pub(super) use {
    address, any_map, bytes, double, headers, int, int_list, int_map, int_set, json, label, nested, nothing, socket,
    span, status, structs, text, text_list, text_map, text_set, time, truth, truths, uint,
};
