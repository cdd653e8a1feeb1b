//! A block of `text` after a block of `rust` is what the program prints, if the fence says nothing else.

use super::{Page, all_pages, is_explained};
use celero_book::console::lines;
use celero_book::markdown::blocks;

/// The programs that print, each with what its page shows.
fn printed(page: &Page) -> Vec<(String, String)> {
    let blocks = blocks(&page.text);
    let pairs = blocks.windows(2).filter_map(|pair| match pair {
        [program, shown] if program.language == "rust" && shown.language == "text" && !is_explained(shown) => {
            Some((program, shown))
        }
        _ => None,
    });
    pairs.map(|(program, shown)| (program.body.to_owned(), shown.body.to_owned())).collect()
}

/// The program of `docs/embedding.md` that prints a report, without its declarations.
fn report() -> String {
    use celero::http::RequestContext;
    use celero::{Engine, Env};
    let env = Env::<RequestContext<'_>>::new();
    let rule = Engine::new().compile(&env, RULE).unwrap();
    let request = http::Request::get("/").body(()).unwrap();
    let context = RequestContext::new(&request);
    let error = rule.test(&context).unwrap_err();
    rule.describe(&error, &context).render("team.cel", false)
}

const RULE: &str = r#"request.path == "/" && request.headers["x-team"] == "ops""#;

#[test]
fn programs_print_what_the_pages_show() {
    let programs: Vec<_> = all_pages().iter().flat_map(printed).collect();
    let [(program, shown)] = &*programs else { panic!("{} programs print: run each here", programs.len()) };
    assert!(program.contains(RULE) && program.contains("report.render(\"team.cel\", false)"), "{program}");
    assert_eq!(lines(shown), lines(report().trim_end()));
}
