//! What is normalised, and what is refused instead.

/// How requests are made canonical. The default is the safe choice everywhere. What has no option is always done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// `.` and `..` in paths. They protect from rules on a path that is not the one that the server
    /// opens: `/x/../admin`.
    pub dot_segments: DotSegments,
    /// Several `/` in a row, which many servers read as one: `//admin`.
    pub slashes: Slashes,
    /// `%2F` and `%5C` in paths, which some servers decode before they split the path: `/x%2F..%2Fadmin`.
    pub encoded_slashes: EncodedSlashes,
    /// Field names with characters that some servers read as `-`: `x_user` beside `x-user`.
    pub underscores: Underscores,
    /// Whether `CONNECT` is accepted. Default: no, because a rule on paths sees nothing of a tunnel.
    pub connect: bool,
}

/// What happens to the segments `.` and `..` of a path (RFC 3986, section 5.2.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DotSegments {
    /// They are resolved.
    #[default]
    Remove,
    /// The request is refused.
    Refuse,
}

/// What happens to several `/` in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Slashes {
    /// They become one.
    #[default]
    Merge,
    /// They stay, for servers that tell them apart, such as object stores.
    Keep,
}

/// What happens to `%2F` and `%5C` in a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EncodedSlashes {
    /// The request is refused.
    #[default]
    Refuse,
    /// They stay, for servers that never decode them.
    Keep,
    /// Both become `/`, before dot segments are removed.
    Decode,
}

/// What happens to a request with a field name that has another character than letters, digits and `-`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Underscores {
    /// It is refused if the name, with `-` for each such character, is one of the
    /// [`GuardedNames`](crate::GuardedNames).
    #[default]
    Guarded,
    /// It is refused.
    Refuse,
    /// It is accepted.
    Keep,
}
