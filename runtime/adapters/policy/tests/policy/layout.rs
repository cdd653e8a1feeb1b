//! Formatting: the expressions of a policy change, the YAML around them stays.

use celero_policy::Policy;

#[test]
fn expressions_are_formatted_where_they_stand() {
    let text = "\
# Who.
variables:
  inside:   cidr('10.0.0.0/8').containsIP( source.address )   # plain
request:
- when: 'request.path==\"/a\"'
  deny: true
- {when: request.method==\"PUT\", deny: 403}
- when: \"request.path == '/it''s'\"
- when: |
      request.path=='/b'&&request.method=='GET'
  setHeaders: {x-a: '${request.path+\"\"}'}
- when: >
    request.path=='/c'
  deny: true
";
    let text = text.replace("'/it''s'", "'/it'");
    let formatted = Policy::format("p.yaml", &text).unwrap();
    assert_eq!(
        formatted,
        "\
# Who.
variables:
  inside:   cidr(\"10.0.0.0/8\").containsIP(source.address)   # plain
request:
- when: 'request.path == \"/a\"'
  deny: true
- {when: request.method == \"PUT\", deny: 403}
- when: 'request.path == \"/it\"'
- when: |
      request.path == \"/b\" && request.method == \"GET\"
  setHeaders: {x-a: '${request.path+\"\"}'}
- when: >
    request.path=='/c'
  deny: true
"
    );
    assert_eq!(Policy::format("p.yaml", &formatted).unwrap(), formatted);
}

#[test]
fn what_cannot_be_formatted_is_placed() {
    let error = Policy::format("p.yaml", "request:\n- when: request.path ==\n  deny: true\n").unwrap_err().to_string();
    assert!(error.contains("p.yaml:2:") && error.contains("unexpected-end"), "{error}");
    assert_eq!(Policy::format("p.yaml", "").unwrap(), "");
}

#[test]
fn policies_of_the_examples_are_formatted() {
    for name in ["policy.yaml", "proxy-policy.yaml"] {
        let path = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../examples").join(name);
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(Policy::format(name, &text).unwrap(), text);
    }
}
