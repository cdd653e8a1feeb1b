//! The example of the README.

use crate::client::get;
use crate::running::{Running, workspace};

#[test]
fn it_does_what_the_readme_says() {
    let policy = std::fs::read_to_string(workspace().join("examples/proxy-policy.yaml")).unwrap();
    let proxy = Running::demo(&policy);
    let home = get(proxy.address, "/");
    assert_eq!((home.status, home.header("x-served-by").as_str()), (200, "celero"));
    assert_eq!(get(proxy.address, "/admin").status, 403);
    let log = proxy.log(2);
    assert!(log[0].get("agent").is_some() || log[0].get("user").is_some(), "{}", log[0]);
    assert_eq!(log[1]["rule"], "no-admin");
    let config = workspace().join("examples/proxy.yaml");
    celero_proxy::config::Config::check(&config).unwrap_or_else(|error| panic!("{error}"));
}
