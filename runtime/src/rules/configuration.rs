//! A rule in a configuration file, with the feature `serde`.

use super::{ErrorPolicy, Rule};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The members of a rule. The names are those of rules in policies.
#[derive(Deserialize)]
#[serde(rename = "Rule", rename_all = "camelCase", deny_unknown_fields)]
struct Members<A> {
    name: String,
    when: String,
    action: A,
    #[serde(default)]
    priority: i32,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    on_error: Option<ErrorPolicy>,
}

/// The same, to be written.
#[derive(Serialize)]
#[serde(rename = "Rule", rename_all = "camelCase")]
struct Written<'r, A> {
    name: &'r str,
    when: &'r str,
    action: &'r A,
    priority: i32,
    tags: Vec<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_error: Option<ErrorPolicy>,
}

/// Reads `name`, `when` (the condition) and `action`, and, if they are there, `priority` (default
/// 0), `tags` (default none) and `onError` (`noMatch`, `match` or `stop`; default: that of the
/// set). Other members are errors. The condition is checked when the set is built.
///
/// ```
/// use celero::http::RequestContext;
/// use celero::{Engine, Env, Rule};
///
/// let file = r#"[
///     {"name": "admin", "when": "request.path.startsWith('/admin')", "action": 403, "onError": "match"},
///     {"name": "rest", "when": "true", "action": 200, "priority": 10, "tags": ["default"]}
/// ]"#;
/// let rules: Vec<Rule<u16>> = serde_json::from_str(file)?;
/// let env = Env::<RequestContext>::new();
/// let set = rules.into_iter().fold(Engine::new().rules(&env), |set, rule| set.with_rule(rule)).build()?;
/// assert_eq!(set.len(), 2);
///
/// let misspelt = serde_json::from_str::<Rule<u16>>(r#"{"name": "a", "when": "true", "action": 1, "prio": 3}"#);
/// assert!(misspelt.unwrap_err().to_string().starts_with("unknown field `prio`, expected one of `name`, `when`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<'de, A: Deserialize<'de>> Deserialize<'de> for Rule<A> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Members::<A>::deserialize(deserializer)?;
        let mut rule = Self::new(&members.name, &members.when, members.action).priority(members.priority);
        for tag in &members.tags {
            rule = rule.tag(tag);
        }
        Ok(match members.on_error {
            Some(policy) => rule.on_error(policy),
            None => rule,
        })
    }
}

/// Writes what `Deserialize` reads.
impl<A: Serialize> Serialize for Rule<A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tags: Vec<&str> = self.tags.iter().map(|tag| &**tag).collect();
        let (name, when, action) = (self.name(), self.source(), &self.action);
        Written { name, when, action, priority: self.priority, tags, on_error: self.on_error }.serialize(serializer)
    }
}
