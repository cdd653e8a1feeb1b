//! Passwords take long to verify; the layer serves other requests meanwhile.

use axum::body::Body;
use axum::http::{Request, Response, StatusCode};
use celero_policy::LivePolicy;
use celero_tower::{PolicyLayer, RequestBody};
use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tower::{Layer, ServiceExt, service_fn};

/// The user `ada` with a password of cost 13.
const USERS: &str = "ada:$2b$13$abcdefghijklmnopqrstuuhB3eJ4Q8pXQX2qk1J1b8m0X2Yl5d3bK\n";

#[test]
fn a_public_page_is_served_while_passwords_are_verified() {
    let folder = std::env::temp_dir().join(format!("celero-tower-passwords-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("users"), USERS).unwrap();
    let text = "basicAuth: {users: users, threads: 1, maxWaiting: 32}\nrequest:\n- {when: request.path == '/public', allow: true}\n\
                - {when: '!has(basicAuth.username)', deny: 401}\n";
    std::fs::write(folder.join("policy.yaml"), text).unwrap();
    let policy = Arc::new(LivePolicy::load(folder.join("policy.yaml")).unwrap());
    let _ = std::fs::remove_dir_all(&folder);
    let service =
        service_fn(|_: Request<RequestBody<Body>>| async { Ok::<_, Infallible>(Response::new(Body::empty())) });
    let app = PolicyLayer::new(Arc::clone(&policy)).without_peer().layer(service);
    let ask = |path: &str, login: &str| {
        let request = Request::get(path)
            .header("host", "localhost")
            .header("authorization", format!("Basic {login}"))
            .body(Body::empty())
            .unwrap();
        Box::pin(app.clone().oneshot(request))
    };
    let mut context = Context::from_waker(Waker::noop());
    // `ada:0` to `ada:9`.
    let logins = [
        "YWRhOjA=", "YWRhOjE=", "YWRhOjI=", "YWRhOjM=", "YWRhOjQ=", "YWRhOjU=", "YWRhOjY=", "YWRhOjc=", "YWRhOjg=",
        "YWRhOjk=",
    ];
    let mut waiting: Vec<_> = logins.iter().map(|login| ask("/", login)).collect();
    let states: Vec<_> = waiting.iter_mut().map(|login| login.as_mut().poll(&mut context).is_pending()).collect();
    assert!(states.iter().filter(|pending| **pending).count() >= 8, "{states:?}");
    let public = ask("/public", "YWRhOjA=").as_mut().poll(&mut context).map(|reply| reply.unwrap().status());
    assert_eq!(public, Poll::Ready(StatusCode::OK));
    assert!(policy.current().verifications().waiting >= 6);
}
