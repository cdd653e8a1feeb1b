//! Long pages begin with links to all their sections. `BLESS=1` writes them anew.

use super::{all_pages, root};
use celero_book::contents::with_contents;

#[test]
fn long_pages_have_contents() {
    let bless = std::env::var_os("BLESS").is_some_and(|v| v == "1");
    let (mut wrong, mut with) = (Vec::new(), 0);
    for page in all_pages() {
        let expected = with_contents(&page.text);
        with += usize::from(expected.contains("\n## Contents\n"));
        if expected == page.text {
            continue;
        }
        if bless {
            std::fs::write(root().join(&page.name), expected).unwrap();
        } else {
            wrong.push(page.name);
        }
    }
    assert!(wrong.is_empty(), "run this test with BLESS=1 to write the contents of {}", wrong.join(", "));
    assert!(with >= 8, "{with}");
}
