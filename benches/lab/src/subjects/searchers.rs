//! Two substring searchers inside the same rules: each `text.contains("constant")` becomes a call
//! of a host function that searches with one or the other, so that all else is equal.

use super::plan::{Host, PlannedRule};
use celero::http::RequestContext;
use celero::{Engine, Env, Program};
use celero_frontend::{Ast, Expr, Limits, Literal, NodeId, parse};
use celero_matching::Searcher;

/// A searcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `memchr::memmem::Finder`.
    Memmem,
    /// `celero_matching::Searcher`.
    Celero,
}

/// The name of the function for a constant, by its number.
fn function(number: usize) -> String {
    format!("lab_search_{number}")
}

/// A CEL expression in which searches for constants are calls of functions, and the constants in their order.
fn rewritten(source: &str) -> Option<(String, Vec<String>)> {
    let ast = parse(source, &Limits::default()).ok()?;
    let mut searches: Vec<(u32, u32, NodeId, String)> = Vec::new();
    find(&ast, ast.root(), &mut searches);
    searches.sort_by_key(|(start, ..)| *start);
    let (mut text, mut constants, mut at) = (String::new(), Vec::new(), 0);
    for (start, end, target, constant) in searches {
        // A search inside of another's target is left as it is.
        let Some(before) = source.get(at..start as usize) else { continue };
        let span = ast.span(target);
        let target = source.get(span.start as usize..span.end as usize)?;
        text.push_str(before);
        text.push_str(&format!("{}({target})", function(constants.len())));
        constants.push(constant);
        at = end as usize;
    }
    text.push_str(source.get(at..)?);
    Some((text, constants))
}

fn find(ast: &Ast, id: NodeId, searches: &mut Vec<(u32, u32, NodeId, String)>) {
    if let Expr::Call { target: Some(target), function, args, .. } = ast.expr(id)
        && ast.name(*function) == "contains"
        && let [argument] = ast.children(*args)
        && let Expr::Literal(Literal::String(constant)) = ast.expr(*argument)
    {
        let span = ast.span(id);
        searches.push((span.start, span.end, *target, constant.to_string()));
    }
    ast.each_child(id, |child| find(ast, child, searches));
}

/// Returns a rule on requests in CEL; the filter language is translated.
#[must_use]
pub fn in_cel(engine: &Engine, env: &Env<RequestContext<'static>>, rule: &PlannedRule) -> Option<String> {
    if rule.host == Host::Request { engine.to_cel(env, &rule.source).ok() } else { None }
}

/// Returns a CEL rule on requests with one kind of searcher; `None` if it does not compile that way.
#[must_use]
pub fn with_searcher(engine: &Engine, source: &str, kind: Kind) -> Option<Program<RequestContext<'static>>> {
    let (text, constants) = rewritten(source)?;
    let mut env = Env::<RequestContext<'static>>::new();
    for (number, constant) in constants.into_iter().enumerate() {
        let name = function(number);
        env = match kind {
            Kind::Memmem => {
                let finder = memchr::memmem::Finder::new(constant.as_bytes()).into_owned();
                env.pure_function(&name, move |text: &str| finder.find(text.as_bytes()).is_some())
            }
            Kind::Celero => {
                let searcher = Searcher::new(constant);
                env.pure_function(&name, move |text: &str| searcher.is_in(text.as_bytes()))
            }
        };
    }
    engine.compile(&env, &text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use celero::Tier;

    #[test]
    fn searches_become_functions() {
        let (text, constants) =
            rewritten(r#"a.contains("x") && b == 1 || !a.c.contains("\"y") || d.contains(e)"#).unwrap();
        assert_eq!(text, "lab_search_0(a) && b == 1 || !lab_search_1(a.c) || d.contains(e)");
        assert_eq!(constants, ["x", "\"y"]);
    }

    #[test]
    fn both_searchers_give_the_result_of_the_rule() {
        let engine = Engine::builder().tier(Tier::Native).build();
        let source = r#"request.path.contains("/admin") || request.host.contains("test")"#;
        let plain = engine.compile(&Env::<RequestContext<'static>>::new(), source).unwrap();
        for path in ["/admin/x", "/adm", "/"] {
            let request: &'static http::Request<()> = Box::leak(Box::new(http::Request::get(path).body(()).unwrap()));
            let context = RequestContext::new(request);
            for kind in [Kind::Memmem, Kind::Celero] {
                let program = with_searcher(&engine, source, kind).unwrap();
                // The places of errors are those in the rewritten text.
                let kinds = [&program, &plain].map(|program| program.test(&context).map_err(|error| error.kind));
                assert_eq!(kinds[0], kinds[1], "{path} {kind:?}");
            }
        }
    }
}
