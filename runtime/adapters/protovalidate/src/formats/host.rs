//! Names of hosts, addresses of email, hosts with ports.

use super::ip;

/// Longest name of a host without a final dot, in bytes.
const MAX_NAME: usize = 253;

/// Longest label of a name, in bytes.
const MAX_LABEL: usize = 63;

/// Whether text is the name of a host: labels of letters, digits and hyphens, the last one not of digits alone. A dot
/// may end it.
pub(crate) fn is_hostname(text: &str) -> bool {
    let name = text.strip_suffix('.').unwrap_or(text);
    let is_number = |label: &str| label.bytes().all(|byte| byte.is_ascii_digit());
    name.len() <= MAX_NAME
        && name.split('.').all(is_label)
        && name.rsplit('.').next().is_some_and(|last| !is_number(last))
}

fn is_label(label: &str) -> bool {
    let bytes = label.as_bytes();
    (1..=MAX_LABEL).contains(&bytes.len())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
        && bytes.first() != Some(&b'-')
        && bytes.last() != Some(&b'-')
}

/// Whether text is an address of email by the definition of HTML, "Valid email address".
pub(crate) fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else { return false };
    let is_local = |byte: u8| byte.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&byte);
    !local.is_empty() && local.bytes().all(is_local) && domain.split('.').all(is_label)
}

/// Whether text is a host, or a host, a colon and a port. The host is a name, an IPv4 address, or an IPv6 address in
/// brackets.
pub(crate) fn is_host_and_port(text: &str, port_required: bool) -> bool {
    if let Some(rest) = text.strip_prefix('[') {
        let Some((address, after)) = rest.rsplit_once(']') else { return false };
        let is_port = match after.strip_prefix(':') {
            Some(port) => is_port(port),
            None => after.is_empty() && !port_required,
        };
        return is_port && ip::is_ip(address, 6);
    }
    let is_host = |host: &str| is_hostname(host) || ip::is_ip(host, 4);
    match text.rsplit_once(':') {
        Some((host, port)) => is_host(host) && is_port(port),
        None => !port_required && is_host(text),
    }
}

/// Whether text is a number up to 65535, without zeros in front.
fn is_port(text: &str) -> bool {
    let is_written = text.bytes().all(|byte| byte.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'));
    is_written && text.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_labels() {
        for name in ["a", "example.com", "example.com.", "a-b.c1", "1.a", &"a".repeat(63)] {
            assert!(is_hostname(name), "{name}");
        }
        for other in ["", ".", "a..b", "-a", "a-", "a_b", "1.2", "é.com", "a.com..", &"a".repeat(64), &"a.".repeat(128)]
        {
            assert!(!is_hostname(other), "{other}");
        }
    }

    #[test]
    fn emails_have_two_parts() {
        for address in ["a@b", "a.b+c@example.com", "..@x", "a@1"] {
            assert!(is_email(address), "{address}");
        }
        for other in ["", "@", "a@", "@b", "a@b@c", "a b@c", "a@b.", "a@-b", "é@b", "a@b\n"] {
            assert!(!is_email(other), "{other}");
        }
    }

    #[test]
    fn ports_are_numbers() {
        for pair in ["a:0", "a:65535", "1.2.3.4:80", "[::1]:1", "[::1%25en0]:1"] {
            assert!(is_host_and_port(pair, true), "{pair}");
        }
        for host in ["a", "1.2.3.4", "[::1]"] {
            assert!(is_host_and_port(host, false) && !is_host_and_port(host, true), "{host}");
        }
        for other in ["", ":", "a:", "a:00", "a:65536", "a:+1", "a: 1", "::1", "[::1", "[::1]x", "[a]:1", "[1.2.3.4]"] {
            assert!(!is_host_and_port(other, false), "{other}");
        }
    }
}
