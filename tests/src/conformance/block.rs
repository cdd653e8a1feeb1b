//! The suite's test-only macros, written with what the language has: `cel.block([a, b], e)` is
//! `cel.bind(index_0, a, cel.bind(index_1, b, e))`, `cel.index(0)` is `index_0`, `cel.iterVar(0, 1)` is `it_0_1`.

/// The expression without these macros. Strings that hold their text would be changed too; the suite has none.
#[must_use]
pub fn expand(expr: &str) -> String {
    let expr = calls(&calls(expr, "cel.index(", "index"), "cel.iterVar(", "it");
    let Some(inner) = expr.strip_prefix("cel.block([").and_then(|rest| rest.strip_suffix(')')) else { return expr };
    let (mut parts, rest) = elements(inner);
    let mut body = rest.trim_start_matches(',').trim().to_owned();
    while let Some(part) = parts.pop() {
        body = format!("cel.bind(index_{}, {}, {body})", parts.len(), part.trim());
    }
    body
}

/// Calls of `start` with numbers as plain names.
fn calls(expr: &str, start: &str, name: &str) -> String {
    let mut pieces = expr.split(start);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (numbers, after) = piece.split_once(')').unwrap_or((piece, ""));
        let numbers: Vec<&str> = numbers.split(',').map(str::trim).collect();
        out.push_str(&format!("{name}_{}{after}", numbers.join("_")));
    }
    out
}

/// What stands between commas up to the bracket that closes the list, and the text after that.
fn elements(text: &str) -> (Vec<String>, String) {
    let (mut parts, mut part) = (Vec::new(), String::new());
    let (mut depth, mut quote) = (0_u32, None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (c, Some(open)) => quote = Some(open).filter(|open| *open != c),
            ('"' | '\'', None) => quote = Some(c),
            ('[' | '(' | '{', None) => depth = depth.saturating_add(1),
            (']', None) if depth == 0 => {
                parts.push(part);
                return (parts, chars.as_str().to_owned());
            }
            (']' | ')' | '}', None) => depth = depth.saturating_sub(1),
            (',', None) if depth == 0 => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
    (parts, String::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_bindings() {
        assert_eq!(
            expand("cel.block([[1, 'a,]'], f(cel.index(0), 2)], cel.index(1) + [3].map(cel.iterVar(0, 1), 1))"),
            "cel.bind(index_0, [1, 'a,]'], cel.bind(index_1, f(index_0, 2), index_1 + [3].map(it_0_1, 1)))"
        );
        assert_eq!(expand("[1].map(cel.iterVar(0, 0), 1)"), "[1].map(it_0_0, 1)");
    }
}
