//! What rules read of a connection with TLS: `source.tls`.

use crate::certificates::{Authority, Signed, TlsClient};
use crate::client::Client;
use crate::h2;
use crate::running::{Folder, Running, say};
use crate::tls::{NEW, OLD};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;

const DEMO: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n";

/// Answers with all members of `source.tls`, `-` for what is absent.
fn policy() -> String {
    let mut body = String::new();
    for name in ["version", "cipher", "sni", "subject", "issuer", "spiffeId", "fingerprint"] {
        let _ = write!(body, "${{has(source.tls.{name}) ? source.tls.{name} : '-'}}|");
    }
    format!(
        "request: [{{ respond: {{ body: \"{body}${{has(source.tls.sans) ? source.tls.sans.join(' ') : '-'}}\" }} }}]\n"
    )
}

/// A proxy with these keys of `tls` and this configuration.
fn proxy(more: &str, rest: &str, authority: &Authority) -> Running {
    let tls = format!("tls: {{ certificates: [{{ chain: one.pem, key: one.key }}]{more} }}");
    Running::with_listener(&tls, &format!("{DEMO}{rest}"), &policy(), |folder| {
        authority.server(&["one.example"]).write(folder, "one");
        folder.write("authority.pem", &authority.pem());
    })
}

const ASKED: &str = ", clients: { authorities: authority.pem, required: false }";

fn fingerprint(certificate: &Signed) -> String {
    ring::digest::digest(&ring::digest::SHA256, &certificate.der())
        .as_ref()
        .iter()
        .fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// The body of a response.
fn seen(proxy: &Running, client: &TlsClient, headers: &str) -> std::io::Result<String> {
    let response = client.get(proxy.address, "one.example", "/", headers)?;
    Ok(response.split_once("\r\n\r\n").unwrap().1.to_owned())
}

#[test]
fn rules_read_connection_and_certificate() {
    let authority = Authority::new("tests");
    let client = authority.client("ada", "spiffe://example/ada");
    let proxy = proxy(ASKED, "", &authority);
    let who = format!(
        "O=Example\\, Inc.,CN=ada|CN=tests|spiffe://example/ada|{}|URI:spiffe://example/ada DNS:client.example",
        fingerprint(&client)
    );
    for (versions, version, cipher) in
        [(NEW, "TLSv1.3", "TLS_AES_256_GCM_SHA384"), (OLD, "TLSv1.2", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384")]
    {
        let with = authority.trust().versions(versions).with(&client);
        let expected = format!("{version}|{cipher}|one.example|{who}");
        assert_eq!(seen(&proxy, &with, "").unwrap(), expected);
        let without = authority.trust().versions(versions);
        assert_eq!(seen(&proxy, &without, "").unwrap(), format!("{version}|{cipher}|one.example|-|-|-|-|-"));
    }
    // The certificate is that of the connection for all of its requests, also over HTTP/2.
    let config = Arc::new(authority.trust().with(&client).protocols(&["h2"]).config());
    let requests = (0..3).map(|_| h2::request("GET", "/", b"")).collect();
    for reply in h2::over_tls(proxy.address, "one.example", config, requests) {
        assert!(String::from_utf8_lossy(reply.body()).ends_with(&who));
    }
}

/// No header makes a connection that has no TLS, or a certificate that was not shown.
#[test]
fn without_tls_nothing_is_there() {
    let proxy = Running::demo(&policy());
    let forged = [
        "x-forwarded-proto: https",
        "forwarded: proto=https",
        "x-forwarded-client-cert: Subject=\"CN=admin\";URI=spiffe://a/b",
        "x-ssl-client-cert: a",
    ];
    let reply = Client::connect(proxy.address).request("GET /", &forged, b"").reply();
    assert_eq!(reply.text(), "-|-|-|-|-|-|-|-");
}

/// A certificate of another authority ends the handshake; of a client that is not asked, none is taken.
#[test]
fn certificates_that_were_not_verified_are_never_there() {
    let (authority, other) = (Authority::new("tests"), Authority::new("tests"));
    let foreign = other.client("ada", "spiffe://example/ada");
    let proxy_asks = proxy(ASKED, "", &authority);
    for versions in [OLD, NEW] {
        let answer = seen(&proxy_asks, &authority.trust().versions(versions).with(&foreign), "");
        assert!(answer.is_err(), "{answer:?}");
    }
    let silent = proxy("", "", &authority);
    for certificate in [&foreign, &authority.client("ada", "spiffe://example/ada")] {
        let answer = seen(&silent, &authority.trust().with(certificate), "").unwrap();
        assert!(answer.ends_with("|one.example|-|-|-|-|-"), "{answer}");
    }
}

/// The connection of a proxy in front is not that of the client whom it names.
#[test]
fn a_client_behind_a_proxy_has_no_connection_here() {
    let authority = Authority::new("tests");
    let proxy = proxy(ASKED, "forwarded: { trusted: [\"127.0.0.0/8\"] }\n", &authority);
    let balancer = authority.trust().with(&authority.client("balancer", "spiffe://example/balancer"));
    assert_eq!(seen(&proxy, &balancer, "x-forwarded-for: 192.0.2.1\r\n").unwrap(), "-|-|-|-|-|-|-|-");
    // It speaks for itself.
    assert!(seen(&proxy, &balancer, "").unwrap().contains("|spiffe://example/balancer|"));
}

/// The same as OpenSSL sees it: names of all kinds, a name that is asked for, and none.
#[test]
fn openssl_agrees() {
    if Command::new("openssl").arg("version").stdout(Stdio::null()).status().is_err() {
        say("left out: there is no openssl");
        return;
    }
    let folder = Folder::new();
    let run = |arguments: &str| {
        let output = Command::new("openssl").args(arguments.split(' ')).current_dir(&folder.0).output().unwrap();
        assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    run(&format!("req -x509 {key} -keyout ca.key -out ca.pem -days 2 -subj /O=Example/CN=ca"));
    folder.write(
        "names",
        "subjectAltName=DNS:c.example,URI:spiffe://example/c,email:c@example.com,IP:192.0.2.9\nextendedKeyUsage=clientAuth\n",
    );
    run(&format!("req -new {key} -keyout c.key -out c.csr -subj /C=NO/O=Example/CN=c"));
    run("x509 -req -in c.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out c.pem");
    let authority = Authority::new("tests");
    let tls = "tls: { certificates: [{ chain: one.pem, key: one.key }], clients: { authorities: ca.pem } }";
    let proxy = Running::with_listener(tls, DEMO, &policy(), |own| {
        authority.server(&["one.example"]).write(own, "one");
        std::fs::copy(folder.0.join("ca.pem"), own.0.join("ca.pem")).unwrap();
    });
    let digest = run("x509 -in c.pem -noout -fingerprint -sha256");
    let digest = digest.trim().rsplit('=').next().unwrap().replace(':', "").to_lowercase();
    let name = |which: &str| {
        let text = run(&format!("x509 -in c.pem -noout -nameopt RFC2253 -{which}"));
        text.trim().split_once('=').unwrap().1.to_owned()
    };
    let who = format!(
        "{}|{}|spiffe://example/c|{digest}|URI:spiffe://example/c DNS:c.example email:c@example.com IP:192.0.2.9",
        name("subject"),
        name("issuer")
    );
    for (asked, sni) in [("-servername One.Example", "one.example"), ("-noservername", "-")] {
        let arguments = format!("s_client -quiet -connect {} -cert c.pem -key c.key {asked}", proxy.address);
        let mut command = Command::new("openssl");
        command.args(arguments.split(' ')).current_dir(&folder.0);
        let mut client = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut input = client.stdin.take().unwrap();
        input.write_all(b"GET / HTTP/1.1\r\nhost: one.example\r\nconnection: close\r\n\r\n").unwrap();
        let output = client.wait_with_output().unwrap();
        drop(input);
        let response = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(response.ends_with(&format!("|{sni}|{who}")), "{response}\n{who}");
    }
}

/// A certificate that was revoked ends the handshake, and so does one of which no list in force says anything.
#[test]
fn revoked_certificates_are_refused() {
    let (authority, other) = (Authority::new("tests"), Authority::new("others"));
    let (good, bad) = (authority.numbered_client(7), authority.numbered_client(8));
    let tls = "tls: { certificates: [{ chain: one.pem, key: one.key }], clients: { authorities: authority.pem, revoked: revoked.pem } }";
    let proxy = Running::with_listener(tls, DEMO, &policy(), |folder| {
        authority.server(&["one.example"]).write(folder, "one");
        folder.write("authority.pem", &authority.pem());
        folder.write("revoked.pem", &authority.revokes(&[8], 2100));
    });
    let accepts = |client: &Signed| seen(&proxy, &authority.trust().with(client), "").is_ok();
    assert!(accepts(&good) && !accepts(&bad));
    // The file is read again when it changes.
    for (list, expected) in [
        (authority.revokes(&[7], 2100), [false, true]),
        (authority.revokes(&[], 2100), [true, true]),
        (authority.revokes(&[], 2021), [false, false]),
        (other.revokes(&[], 2100), [false, false]),
    ] {
        proxy.folder.write("revoked.pem", &list);
        proxy.handle.reload().unwrap();
        assert_eq!([accepts(&good), accepts(&bad)], expected);
    }
    proxy.folder.write("revoked.pem", "nothing");
    let error = proxy.handle.reload().unwrap_err().to_string();
    assert!(error.contains("revoked.pem: there is no revocation list in it"), "{error}");
}
