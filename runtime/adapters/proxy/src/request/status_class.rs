//! How the outcome of a request is counted.

use http::HeaderMap;

/// Returns the status of gRPC in headers or trailers.
pub(crate) fn grpc_status(headers: &HeaderMap) -> Option<u16> {
    headers.get("grpc-status")?.to_str().ok()?.trim().parse().ok()
}

/// Returns the class of a request: the first digit of its status, or 0 without a response. A call
/// of gRPC whose status is an error counts as what it would be in HTTP, though its status in HTTP
/// is 200. `answered`: by the policy, which writes 400 as `INTERNAL` and 404 as `UNIMPLEMENTED`.
pub(crate) fn class_of(status: Option<u16>, grpc: Option<u16>, answered: bool) -> usize {
    let class = usize::from(status.unwrap_or_default() / 100);
    match grpc {
        Some(code @ 1..) if class == 2 => match code {
            // CANCELLED, INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED,
            // RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, UNAUTHENTICATED
            1 | 3 | 5..=11 | 16 => 4,
            12 | 13 if answered => 4,
            _ => 5,
        },
        _ => class,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_count_by_their_own_status() {
        let class = |status, grpc| class_of(status, grpc, false);
        assert_eq!([class(Some(200), None), class(Some(404), None), class(None, None)], [2, 4, 0]);
        assert_eq!([class(Some(200), Some(0)), class(Some(200), Some(7)), class(Some(200), Some(14))], [2, 4, 5]);
        assert_eq!([class(Some(200), Some(99)), class(Some(503), Some(7))], [5, 5]);
        assert_eq!([class(Some(200), Some(13)), class_of(Some(200), Some(13), true)], [5, 4]);
    }
}
