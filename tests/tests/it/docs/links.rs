//! Every link of the pages leads to a file of the repository and, with `#`, to a heading in it. Addresses in the net are not visited.

use super::{pages, root};
use celero_tests::markdown::{anchors, links};

#[test]
fn every_link_leads_somewhere() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for page in pages() {
        let folder = root().join(&page.name).parent().unwrap().to_owned();
        for link in links(&page.text) {
            if link.starts_with("https://") || link.starts_with("http://") {
                continue;
            }
            checked += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let path = if file.is_empty() { root().join(&page.name) } else { folder.join(file) };
            if !path.exists() {
                wrong.push(format!("{}: no file {file}", page.name));
            } else if !anchor.is_empty()
                && !anchors(&std::fs::read_to_string(&path).unwrap()).iter().any(|a| a == anchor)
            {
                wrong.push(format!("{}: no heading `{anchor}` in {file}", page.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 50, "{checked}");
}
