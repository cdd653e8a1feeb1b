//! The messages of a case's call of gRPC: written as JSON, they become the frames of a body.

use crate::policy::Policy;
use crate::problems::Problems;
use crate::yaml::Node;
use celero::messages::Message;
use std::slice;

/// The code of errors about the messages of cases.
const CODE: &str = "case-message";

/// Returns the messages of a request or a response, if it has any: it is one of a call of gRPC then.
pub(super) fn messages(asked: Option<&Node>) -> Option<&[Node]> {
    let asked = asked?;
    asked.get("message").map(slice::from_ref).or_else(|| asked.get("messages").map(Node::elements))
}

/// Returns the body with the messages of a request, or of a response, to this path.
pub(super) fn body(
    policy: &Policy,
    asked: Option<&Node>,
    of_response: bool,
    path: &str,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    let messages = messages(asked)?;
    let asked = asked?;
    if ["message", "messages", "body"].iter().filter(|key| asked.get(key).is_some()).count() > 1 {
        let message = "there may be one of `message`, `messages` and `body`".to_owned();
        problems.add(CODE, asked.place, message);
        return None;
    }
    let Some(types) = policy.methods.of_requests.types() else {
        let message = "a case has messages only where the policy has `grpc: {descriptors: FILE}`".to_owned();
        problems.add(CODE, asked.place, message);
        return None;
    };
    let Some(method) = types.method(path) else {
        let place = asked.text_of("uri").map_or(asked.place, |uri| uri.place);
        let problem = problems.add(CODE, place, format!("`grpc.descriptors` has no method `{path}`"));
        let known: Vec<&str> = types.methods().map(|(path, _)| path).collect();
        if !problem.suggest(path, &known) {
            problem.help("`uri` is the path of the call: `/package.Service/Method`");
        }
        return None;
    };
    let mut body = Vec::new();
    for node in messages {
        let name = if of_response { &method.response } else { &method.request };
        match Message::bytes_of_json(types, name, &node.json()) {
            Err(why) => {
                problems.add(CODE, node.place, why);
            }
            Ok(bytes) => {
                body.push(0);
                body.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
                body.extend(bytes);
            }
        }
    }
    Some(body)
}
