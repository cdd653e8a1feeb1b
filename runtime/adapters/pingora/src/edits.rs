//! Applies the header edits of a policy to Pingora's headers.
//!
//! Edits use Pingora's own methods, which keep the case of header names as it was received.

use celero_policy::{Edit, Edits};
use pingora::Result;
use pingora::http::{RequestHeader, ResponseHeader};

/// Applies edits to the head of a request.
pub(crate) fn to_request(edits: &Edits, head: &mut RequestHeader) -> Result<()> {
    for edit in edits.iter() {
        match edit {
            Edit::Set { name, value } => head.insert_header(name.clone(), value.clone())?,
            Edit::Add { name, value } => drop(head.append_header(name.clone(), value.clone())?),
            Edit::Remove { name } => drop(head.remove_header(name)),
        }
    }
    Ok(())
}

/// Applies edits to the head of a response.
pub(crate) fn to_response(edits: &Edits, head: &mut ResponseHeader) -> Result<()> {
    for edit in edits.iter() {
        match edit {
            Edit::Set { name, value } => head.insert_header(name.clone(), value.clone())?,
            Edit::Add { name, value } => drop(head.append_header(name.clone(), value.clone())?),
            Edit::Remove { name } => drop(head.remove_header(name)),
        }
    }
    Ok(())
}
