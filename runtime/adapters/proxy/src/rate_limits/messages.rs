//! The messages of Envoy's rate limit service, version 3 (`envoy/service/ratelimit/v3/rls.proto`),
//! as far as this client reads and writes them.

use prost::{Enumeration, Message};

/// `envoy.service.ratelimit.v3.RateLimitRequest`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct RateLimitRequest {
    #[prost(string, tag = "1")]
    pub(super) domain: String,
    #[prost(message, repeated, tag = "2")]
    pub(super) descriptors: Vec<Descriptor>,
    #[prost(uint32, tag = "3")]
    pub(super) hits_addend: u32,
}

/// `envoy.extensions.common.ratelimit.v3.RateLimitDescriptor`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Descriptor {
    #[prost(message, repeated, tag = "1")]
    pub(super) entries: Vec<Entry>,
}

/// `envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.Entry`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Entry {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(string, tag = "2")]
    pub(super) value: String,
}

/// `envoy.service.ratelimit.v3.RateLimitResponse`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct RateLimitResponse {
    #[prost(enumeration = "Code", tag = "1")]
    pub(super) overall_code: i32,
    #[prost(message, repeated, tag = "2")]
    pub(super) statuses: Vec<DescriptorStatus>,
}

/// `envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct DescriptorStatus {
    #[prost(enumeration = "Code", tag = "1")]
    pub(super) code: i32,
    #[prost(message, optional, tag = "2")]
    pub(super) current_limit: Option<CurrentLimit>,
    #[prost(uint32, tag = "3")]
    pub(super) limit_remaining: u32,
    #[prost(message, optional, tag = "4")]
    pub(super) duration_until_reset: Option<ProtoDuration>,
}

/// `envoy.service.ratelimit.v3.RateLimitResponse.RateLimit`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct CurrentLimit {
    #[prost(uint32, tag = "1")]
    pub(super) requests_per_unit: u32,
    #[prost(enumeration = "Unit", tag = "2")]
    pub(super) unit: i32,
}

/// `google.protobuf.Duration`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ProtoDuration {
    #[prost(int64, tag = "1")]
    pub(super) seconds: i64,
    #[prost(int32, tag = "2")]
    pub(super) nanos: i32,
}

/// `envoy.service.ratelimit.v3.RateLimitResponse.Code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub(super) enum Code {
    Unknown = 0,
    Ok = 1,
    OverLimit = 2,
}

/// `envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.Unit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub(super) enum Unit {
    Unknown = 0,
    Second = 1,
    Minute = 2,
    Hour = 3,
    Day = 4,
    Month = 5,
    Year = 6,
}

impl Unit {
    /// Returns the length of the unit in seconds. Months have 30 days, years 365. `None`: it is not known.
    pub(super) fn seconds(self) -> Option<u64> {
        const DAY: u64 = 86_400;
        Some(match self {
            Self::Unknown => return None,
            Self::Second => 1,
            Self::Minute => 60,
            Self::Hour => 3600,
            Self::Day => DAY,
            Self::Month => 30 * DAY,
            Self::Year => 365 * DAY,
        })
    }
}
