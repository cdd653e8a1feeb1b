//! Passwords: hashing never blocks a host, is bounded, tells nothing about users, and happens only
//! if a rule asks for it.

use crate::support::{Folder, edits, exchange, head, log, response, status};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use celero_policy::{Decision, Exchange, Policy};
use http::request::Parts;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// A policy with the user `ada`, whose password is `right`, hashed with this cost.
fn policy(name: &str, cost: u32, settings: &str, rules: &str) -> Policy {
    let folder = Folder::new(name);
    let hash = bcrypt::hash("right", cost).unwrap();
    folder.write("users", format!("ada:{hash}\ngrace:{hash}\n"));
    let text = format!("basicAuth: {{users: users, {settings}}}\n{rules}");
    Policy::load(folder.write("policy.yaml", text)).unwrap()
}

fn request(path: &str, login: &str) -> Parts {
    head(&format!("GET {path}"), &[("authorization", &format!("Basic {}", STANDARD.encode(login)))])
}

/// Runs the phase once. `None`: it waits.
fn poll(future: Pin<&mut impl Future<Output = Decision>>) -> Option<u16> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => Some(status(outcome)),
        Poll::Pending => None,
    }
}

const GUARD: &str = "
request:
- {name: public, when: 'request.path.startsWith(\"/public\")', allow: true, count: public}
- {name: seen, labels: {seen: yes}, logFields: {a: '1'}, setHeaders: {x-seen: yes}, count: seen}
- {name: guard, when: '!has(basicAuth.username)', deny: 401, count: denied}
- {setHeaders: {x-user: '${basicAuth.username}'}}
";

#[test]
fn forty_wrong_logins_do_not_delay_a_public_page() {
    let policy = policy("forty", 12, "threads: 1, maxWaiting: 8", GUARD);
    let mut heads: Vec<Parts> = (0..40).map(|number| request("/private", &format!("ada:wrong {number}"))).collect();
    let mut exchanges: Vec<Exchange> = heads.iter().map(|_| exchange()).collect();
    let mut logins: Vec<_> = heads
        .iter_mut()
        .zip(&mut exchanges)
        .map(|(head, exchange)| Box::pin(policy.request_async(head, exchange)))
        .collect();
    let first: Vec<Option<u16>> = logins.iter_mut().map(|login| poll(login.as_mut())).collect();
    assert!(first.iter().all(|status| matches!(status, None | Some(503))), "{first:?}");
    assert!(first.iter().filter(|status| status.is_none()).count() <= 8 + 1 + 1, "{first:?}");
    let info = policy.verifications();
    assert!(info.done <= 1 && info.waiting <= 8 && info.refused >= 30, "{info:?}");
    // A public page is there at once, with and without credentials.
    for head in [request("/public/a", "ada:wrong"), head("GET /public", &[])] {
        assert_eq!(poll(pin!(policy.request_async(&mut head.clone(), &mut exchange()))), Some(0));
    }
    assert!(
        logins
            .iter_mut()
            .zip(first)
            .filter(|(_, status)| status.is_none())
            .any(|(login, _)| poll(login.as_mut()).is_none())
    );
    // Clients that are gone free capacity.
    drop(logins);
    let again = request("/private", "ada:another");
    assert_eq!(poll(pin!(policy.request_async(&mut again.clone(), &mut exchange()))), None);
}

#[test]
fn nothing_counts_twice_when_a_phase_waits() {
    let policy = policy("twice", 5, "", GUARD);
    let (mut exchange, right) = (exchange(), request("/private", "ada:right"));
    assert_eq!(status(policy.request(&mut right.clone(), &mut exchange)), 0);
    assert_eq!(edits(&exchange), ["x-seen = yes", "x-user = ada"]);
    assert_eq!(exchange.labels().collect::<Vec<_>>(), [("seen", "yes")]);
    assert_eq!(log(&policy, &right, None, &mut exchange).to_string(), r#"{"a":"1"}"#);
    assert_eq!(policy.counters().collect::<Vec<_>>(), [("public", 0), ("seen", 1), ("denied", 0)]);
    exchange.reset(None, None);
    assert_eq!(status(policy.request(&mut request("/private", "ada:wrong"), &mut exchange)), 401);
    assert!(edits(&exchange).is_empty());
    assert_eq!(policy.counters().collect::<Vec<_>>(), [("public", 0), ("seen", 2), ("denied", 1)]);
    assert!(policy.rules().all(|rule| (rule.evaluated, rule.failed) == (2, 0)));
    assert_eq!(policy.phases().next().unwrap().evaluated, 2);
}

/// A requirement waits for a password as a condition does, and counts once.
#[test]
fn a_requirement_waits_for_a_password() {
    let policy =
        policy("required", 5, "", "request:\n- {require: \"basicAuth.username == 'ada'\", deny: 401, count: denied}\n");
    let mut denied = 0;
    for (login, expected) in [("ada:right", 0), ("grace:right", 401), ("ada:wrong", 401)] {
        let head = request("/", login);
        // On a busy machine the password may be verified before this looks.
        let early = poll(pin!(policy.request_async(&mut head.clone(), &mut exchange())));
        let answer = status(policy.request(&mut head.clone(), &mut exchange()));
        assert!(answer == expected && early.is_none_or(|early| early == expected), "{login}: {early:?}, {answer}");
        denied += u64::from(expected != 0) * (1 + u64::from(early.is_some()));
        assert_eq!(policy.counters().collect::<Vec<_>>(), [("denied", denied)]);
    }
}

#[test]
fn every_login_costs_one_hash_once() {
    let policy = policy("constant", 5, "", GUARD);
    let mut done = 0;
    for (login, expected, hashes) in [
        ("ada:right", 0, 1),
        ("ada:right", 0, 0),
        ("ada:wrong", 401, 1),
        ("ada:wrong", 401, 0),
        ("unknown:right", 401, 1),
        ("unknown:right", 401, 0),
        (":", 401, 1),
        ("ada:", 401, 1),
        ("ada", 401, 0),
        // `Basic` and a space.
        ("", 400, 0),
        ("ada:\u{0}right", 401, 1),
        ("Ada:right", 401, 1),
        ("ada :right", 401, 1),
        ("grace:right", 0, 1),
        ("ada:right", 0, 0),
    ] {
        assert_eq!(status(policy.request(&mut request("/private", login), &mut exchange())), expected, "{login}");
        done += hashes;
        assert_eq!(policy.verifications().done, done, "{login}");
    }
    let huge = request("/private", &format!("ada:{}", "x".repeat(100_000)));
    assert_eq!(status(policy.request(&mut huge.clone(), &mut exchange())), 401);
    let twice = head("GET /", &[("authorization", "Basic YTpi"), ("authorization", "Basic YTpi")]);
    assert_eq!(status(policy.request(&mut twice.clone(), &mut exchange())), 400);
    assert_eq!(policy.verifications().done, done);
}

#[test]
fn equal_logins_at_once_cost_one_hash() {
    let policy = policy("equal", 8, "threads: 1, maxWaiting: 1", GUARD);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let login = || status(policy.request(&mut request("/private", "ada:right"), &mut exchange()));
            scope.spawn(move || assert_eq!(login(), 0));
        }
    });
    assert_eq!(policy.verifications().done, 1);
}

#[test]
fn only_rules_that_read_the_user_wait() {
    // Whether a rule with this condition waits, and then denies.
    for (condition, waits, denies) in [
        ("basicAuth.username == 'ada'", true, true),
        ("has(basicAuth.username)", true, true),
        ("!has(basicAuth.username)", true, false),
        ("'username' in basicAuth", true, true),
        ("basicAuth[?'username'].hasValue()", true, true),
        ("basicAuth.?username.orValue('nobody') == 'nobody'", true, false),
        ("size(basicAuth) == 1", true, true),
        ("basicAuth == {}", true, false),
        ("basicAuth.exists(k, k == 'username')", true, true),
        ("basicAuth.all(k, k == 'username')", true, true),
        ("basicAuth.map(k, basicAuth[k]) == ['ada']", true, true),
        ("size(basicAuth) == 0", true, false),
        ("size(basicAuth) == 0 || has(basicAuth.username)", true, true),
        ("has(basicAuth.username) && size(basicAuth) == 1", true, true),
        ("basicAuth.map(k, k) == []", true, false),
        ("type(basicAuth) == map", false, true),
        ("request.path == '/' || basicAuth.username == 'eve'", false, true),
        ("request.path == '/x' && basicAuth.username == 'ada'", false, false),
        ("basicAuth.username == 'eve' || request.path == '/'", true, true),
        ("request.path == '/x' ? basicAuth.username == 'ada' : true", false, true),
    ] {
        let rules = format!("request:\n- when: {}\n  deny: true\n", serde_json::Value::from(condition));
        let policy = policy("lazy", 4, "", &rules);
        let status = status(policy.request(&mut request("/", "ada:right"), &mut exchange()));
        assert_eq!((policy.verifications().done > 0, status == 403), (waits, denies), "{condition}");
    }
}

#[test]
fn later_phases_know_the_user_and_the_log_never_waits() {
    let rules = "response:\n- {when: 'basicAuth.username == \"ada\"', setHeaders: {x-user: ada}}\n";
    let early = policy("later", 4, "", rules);
    let (mut exchange_, login) = (exchange(), request("/", "ada:right"));
    assert_eq!(status(early.request(&mut login.clone(), &mut exchange_)), 0);
    let without = head("GET /", &[]);
    assert_eq!(status(early.response(&without, &mut response(200, &[]), &mut exchange_)), 0);
    assert_eq!(edits(&exchange_), ["x-user = ada"]);

    let logging = policy("logging", 12, "threads: 1", "log:\n- logFields: {user: '${basicAuth.username}'}\n");
    let mut exchange_ = exchange();
    assert_eq!(poll(pin!(logging.request_async(&mut login.clone(), &mut exchange_))), Some(0));
    assert!(log(&logging, &without, None, &mut exchange_).is_empty(), "not verified yet");
    let mut exchange_ = exchange();
    assert_eq!(poll(pin!(logging.request_async(&mut login.clone(), &mut exchange_))), Some(0));
    let start = Instant::now();
    let pause = |awaited: &str| {
        assert!(start.elapsed() < Duration::from_secs(120), "expected {awaited}");
        std::thread::sleep(Duration::from_millis(5));
    };
    while logging.verifications().done == 0 {
        pause("a verified password");
    }
    // Counted just before the finding is there, which changes once.
    let mut line = log(&logging, &without, None, &mut exchange_);
    while line.is_empty() {
        pause("the user in the log");
        line = log(&logging, &without, None, &mut exchange_);
    }
    assert_eq!(line.to_string(), r#"{"user":"ada"}"#);
}

#[test]
fn files_of_users_are_checked() {
    let folder = Folder::new("users-file");
    let hash = bcrypt::hash("x", 4).unwrap();
    for (lines, why) in [
        (format!("ada:{hash}\nada:{hash}\n"), "users:2 names `ada` a second time"),
        (format!("ada:{}\n", hash.replace("$04$", "$17$")), "users:1 has a hash of cost 17; costs are 4 to 16"),
        (format!("ada:{}\n", hash.replace("$04$", "$03$")), "has a hash of cost 3"),
        (format!("ada:{}!\n", &hash[..59]), "users:1 is not `name:hash`"),
        ("ada:{SHA}x\n".to_owned(), "users:1 is not `name:hash`"),
    ] {
        folder.write("users", lines);
        let error = Policy::load(folder.write("policy.yaml", "basicAuth: {users: users}\n")).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    // Without users nothing is hashed.
    folder.write("users", "# nobody yet\n");
    let text = format!("basicAuth: {{users: users}}\n{GUARD}");
    let policy = Policy::load(folder.write("policy.yaml", text)).unwrap();
    assert_eq!(status(policy.request(&mut request("/private", "ada:right"), &mut exchange())), 401);
    assert_eq!(policy.verifications().done, 0);
}

/// bcrypt reads 72 bytes at most, and repeats a password after its zero byte: other passwords would
/// count as the right one.
#[test]
fn only_the_whole_password_is_right() {
    let folder = Folder::new("whole-password");
    let long = "p".repeat(72);
    let lines = [("ada", long.as_str()), ("grace", "right")]
        .map(|(user, password)| format!("{user}:{}\n", bcrypt::hash(password, 4).unwrap()));
    folder.write("users", lines.concat());
    let policy = Policy::load(folder.write("policy.yaml", format!("basicAuth: {{users: users}}\n{GUARD}"))).unwrap();
    let ask = |login: &str| status(policy.request(&mut request("/private", login), &mut exchange()));
    assert_eq!((ask(&format!("ada:{long}")), ask("grace:right")), (0, 0));
    let done = policy.verifications().done;
    assert_eq!(ask(&format!("ada:{long}p")), 401);
    assert_eq!(ask("grace:right\0right"), 401);
    assert_eq!(policy.verifications().done, done + 2, "these cost as much as other wrong passwords");
}

/// Who sends many wrong logins from one address, or for one user, leaves places for others.
#[test]
fn one_address_or_one_user_does_not_take_all_places() {
    type Login = fn(usize) -> (String, String);
    let floods: [(&str, Login); 3] = [
        ("address", |number| ("192.0.2.1".into(), format!("user{number}:wrong"))),
        ("network", |number| (format!("2001:db8::{number:x}"), format!("user{number}:wrong"))),
        ("user", |number| (format!("192.0.2.{number}"), format!("ada:wrong {number}"))),
    ];
    for (name, login) in floods {
        let policy = policy(&format!("shares-{name}"), 10, "threads: 1, maxWaiting: 16", GUARD);
        let from = |address: &str| Exchange::new(Some(std::net::SocketAddr::new(address.parse().unwrap(), 1)), None);
        let (mut heads, mut exchanges): (Vec<Parts>, Vec<Exchange>) =
            (0..100).map(login).map(|(address, login)| (request("/private", &login), from(&address))).unzip();
        let mut waiting: Vec<_> = heads
            .iter_mut()
            .zip(&mut exchanges)
            .map(|(head, exchange)| Box::pin(policy.request_async(head, exchange)))
            .collect();
        let refused =
            waiting.iter_mut().filter_map(|login| poll(login.as_mut())).filter(|status| *status == 503).count();
        assert!(refused >= 50, "{name}: {refused} of 100 are refused");
        let mut other = request("/private", "grace:right");
        assert_eq!(status(policy.request(&mut other, &mut from("198.51.100.7"))), 0, "{name}");
    }
}
