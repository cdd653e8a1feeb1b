//! One canonical request of all its spellings: checks a head, and collects what has to change in it.
//!
//! Invariant: a head is changed as a whole, or refused and left as it was. Test:
//! `runtime/canonical/tests/requests.rs::refused_heads_stay_as_they_are`.
//!
//! Invariant: the cost is linear in the length of the head. Test:
//! `benches/lab/tests/cost/requests.rs::canonical_requests_cost_what_their_length_says`.

use crate::authority::Authority;
use crate::fields::{FieldChanges, check, of_response};
use crate::guarded::GuardedNames;
use crate::head::{Fields, Head, ResponseHead};
use crate::options::Options;
use crate::refusal::Refusal;
use crate::target::{self, Target};
use http::header::{HOST, HeaderValue};
use http::{HeaderName, StatusCode, Uri, Version, request};

/// What has to change in a head to make it canonical.
#[derive(Debug, Default)]
pub struct Changes {
    uri: Option<Uri>,
    fields: FieldChanges,
}

impl Changes {
    /// Returns whether the head is canonical already.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.uri.is_none() && self.fields.set.is_empty() && self.fields.remove.is_empty()
    }

    /// Returns the new target, if it changes.
    #[must_use]
    pub fn uri(&self) -> Option<&Uri> {
        self.uri.as_ref()
    }

    /// Returns the fields that get another value.
    #[must_use]
    pub fn set_fields(&self) -> &[(HeaderName, HeaderValue)] {
        &self.fields.set
    }

    /// Returns the fields that are removed. Names may repeat.
    #[must_use]
    pub fn removed_fields(&self) -> &[HeaderName] {
        &self.fields.remove
    }

    /// Carries out the changes.
    pub fn apply(self, head: &mut impl Head) {
        if let Some(uri) = self.uri {
            head.set_uri(uri);
        }
        apply_fields(self.fields, head);
    }
}

fn apply_fields(changes: FieldChanges, head: &mut impl Fields) {
    for (name, value) in changes.set {
        head.set_field(&name, value);
    }
    for name in changes.remove {
        head.remove_field(&name);
    }
}

/// Returns what has to change in the head of a request to make it canonical. `raw` is the target as
/// it was received, where `parts.uri` doesn't have all of it ([`Head::raw_target`]).
///
/// A head that is canonical already costs no allocation. Every cost is linear in the length of the head.
///
/// # Errors
/// Returns a [`Refusal`] if the request has no canonical form, or one that the options refuse.
pub fn canonical_changes(
    parts: &request::Parts,
    raw: Option<&[u8]>,
    options: &Options,
    guarded: &GuardedNames,
) -> Result<Changes, Refusal> {
    if parts.method.as_str().bytes().any(|byte| byte.is_ascii_lowercase()) {
        return Err(Refusal::Method);
    }
    let target = target::read(parts, raw, options)?;
    let mut fields = FieldChanges::default();
    let new_authority = host(parts, &target, &mut fields)?;
    check(parts, guarded, options.underscores, &mut fields)?;
    let uri = if target.path.is_some() || target.absolute || new_authority.is_some() {
        Some(target::uri_with(&parts.uri, target.path, new_authority.as_deref(), target.absolute)?)
    } else {
        None
    };
    Ok(Changes { uri, fields })
}

/// Makes the head of a request canonical. See [`canonical_changes`].
///
/// ```
/// use celero_canonical::{GuardedNames, Options, Refusal, canonicalize};
///
/// let request = http::Request::get("//admin/%61").header("host", "Admin.Example.:80").body(())?;
/// let (mut head, ()) = request.into_parts();
/// canonicalize(&mut head, &Options::default(), &GuardedNames::default())?;
/// assert_eq!(head.uri, "/admin/a");
/// assert_eq!(head.headers["host"], "admin.example:80");
///
/// let (mut head, ()) = http::Request::get("/").body(())?.into_parts();
/// let refused = canonicalize(&mut head, &Options::default(), &GuardedNames::default());
/// assert_eq!(refused, Err(Refusal::HostMissing));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns a [`Refusal`], and changes nothing, if the request has no canonical form, or one that the options refuse.
pub fn canonicalize(head: &mut impl Head, options: &Options, guarded: &GuardedNames) -> Result<(), Refusal> {
    let changes = canonical_changes(head.parts(), head.raw_target(), options, guarded)?;
    if !changes.is_empty() {
        changes.apply(head);
    }
    Ok(())
}

/// Checks the host of a request (RFC 9112, section 3.2; RFC 9113, section 8.3.1). Returns the new
/// authority of the target, if that changes.
fn host(parts: &request::Parts, target: &Target<'_>, fields: &mut FieldChanges) -> Result<Option<String>, Refusal> {
    let mut lines = parts.headers.get_all(HOST).iter().map(HeaderValue::as_bytes);
    let (field, second) = (lines.next(), lines.next());
    if second.is_some() {
        return Err(Refusal::HostDuplicate);
    }
    // Absolute-form doesn't replace `Host` (RFC 9112, section 3.2.2). HTTP/1.0 need not have it,
    // but the server gets HTTP/1.1, and rules read what it gets.
    if field.is_none() && parts.version < Version::HTTP_2 {
        return Err(Refusal::HostMissing);
    }
    let text = target.authority.or(field).ok_or(Refusal::HostMissing)?;
    let new = Authority::parse(text).ok_or(Refusal::HostInvalid)?.changed();
    // Clients send the same bytes in both places (RFC 9112, section 3.2). RFC 9113, section 8.3.1,
    // compares normalised values, which servers behind another scheme or port would normalise
    // otherwise.
    if field.is_some_and(|field| field != text) {
        return Err(Refusal::HostMismatch);
    }
    // What servers get as `Host`, rules read under that name too.
    let canonical = new.as_deref().map_or(text, str::as_bytes);
    if field != Some(canonical) {
        fields.set.push((HOST, HeaderValue::from_bytes(canonical).map_err(|_| Refusal::HostInvalid)?));
    }
    let in_target = target.authority.is_some() && !target.absolute;
    Ok(new.filter(|_| in_target))
}

/// Removes from a response the fields that belong to the connection to the server, and those that
/// its `Connection` names (RFC 9110, section 7.6.1), so that it can't remove what a policy sets.
/// Only the fields of a switch of protocols (101) stay.
pub fn canonicalize_response(head: &mut impl ResponseHead) {
    let switches = head.parts().status == StatusCode::SWITCHING_PROTOCOLS;
    apply_fields(of_response(head.headers(), switches), head);
}
