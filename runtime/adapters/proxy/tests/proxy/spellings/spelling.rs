//! A request in a random spelling.

/// A generator with a fixed seed (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % count as u64).unwrap()
    }

    pub(crate) fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

/// A request in one spelling.
pub(crate) struct Spelling {
    pub(crate) target: String,
    pub(crate) host: String,
    pub(crate) fields: Vec<&'static str>,
    /// Whether a server could take it for the forbidden path, host or role.
    pub(crate) forbidden: bool,
}

pub(crate) fn spell(random: &mut Random) -> Spelling {
    let forbidden_path = random.below(2) == 0;
    let segments: &[&str] = if forbidden_path { &["admin", "x"] } else { &["open", "y~z"] };
    let mut target = String::new();
    for segment in segments {
        target.push_str(random.pick(&["/", "/", "/", "//", "/./", "/q/../", "/%2e/", "/q/%2E%2e/", "///", "/.//"]));
        for letter in segment.chars() {
            match random.below(8) {
                0 => target.push_str(&format!("%{:02x}", letter as u32)),
                1 => target.push_str(&format!("%{:02X}", letter as u32)),
                _ => target.push(letter),
            }
        }
    }
    target.push_str(
        random.pick(&["", "", "", "", "/", "/.", "/b/..", "?q=//../", "#f", "%2f", "%5c", "%00", "%", "\\", "/..;/"]),
    );
    let forbidden_host = random.below(3) == 0;
    let mut host: String = if forbidden_host { "admin.example" } else { "open.example" }.to_owned();
    if random.below(3) == 0 {
        host = host.chars().map(|c| if random.below(2) == 0 { c.to_ascii_uppercase() } else { c }).collect();
    }
    host.push_str(random.pick(&["", "", "", ".", ":80", ":", ".:8080", ":0443", ":x", ":99999"]));
    let choices = [
        "x-user: client",
        "x-restricted: client",
        "X-User: client",
        "x_user: client",
        "x.restricted: client",
        "cookie: a=1",
        "cookie: b=2",
        "x-other: 1",
        "X-Other: 2",
        "accept: */*",
        "x-role: admin",
        "X-Role:  admin",
        "x-role: admin ",
        "x-role: \tadmin",
        "x_role: admin",
        "x-role: guest",
        "content-length: 0",
        "content-length: +0",
        "transfer-encoding: xchunked",
    ];
    let fields: Vec<_> = (0..random.below(4)).map(|_| random.pick(&choices)).collect();
    let forbidden_role = fields.iter().any(|field| field.contains("admin"));
    Spelling { target, host, fields, forbidden: forbidden_path || forbidden_host || forbidden_role }
}
