//! Rules that read your own structs, in place: `cargo run -p celero-examples --bin own_context`.

use celero::{Context, Engine, Env, FieldType, Scratch, Value};
use std::collections::HashMap;
use std::error::Error;
use std::net::IpAddr;

/// What rules may read. Each field is a variable.
#[derive(Context)]
struct Login<'a> {
    path: &'a str,
    attempts: u32,
    #[context(name = "client.ip")]
    client: IpAddr,
    /// May be absent: rules test it with `has(user.tenant)`.
    #[context(name = "user.tenant")]
    tenant: Option<String>,
    /// A newtype is what its field is: a `uint`.
    account: AccountId,
    /// An enum is text: `user.plan == "team"`.
    #[context(name = "user.plan")]
    plan: Plan,
    #[context(name = "user.previous_plan")]
    previous_plan: Option<Plan>,
    groups: Vec<String>,
    labels: HashMap<String, String>,
    /// Its fields are `device.os` and `device.managed`.
    #[context(nested)]
    device: Device<'a>,
    #[context(skip)]
    _password: &'a str,
}

#[derive(Context)]
struct Device<'a> {
    os: &'a str,
    managed: bool,
}

#[derive(FieldType)]
struct AccountId(u64);

#[derive(FieldType)]
#[context(rename_all = "lowercase")]
enum Plan {
    Free,
    Team,
}

fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::new(); // one per process
    let env = Env::<Login>::new(); // the names that rules may use
    let login = Login {
        path: "/login",
        attempts: 4,
        client: [203, 0, 113, 7].into(),
        tenant: Some("acme".into()),
        account: AccountId(17),
        plan: Plan::Team,
        previous_plan: Some(Plan::Free),
        groups: vec!["users".into(), "admins".into()],
        labels: HashMap::from([("region".into(), "eu".into())]),
        device: Device { os: "linux", managed: false },
        _password: "not for rules",
    };

    for (rule, expected) in [
        (r#"path == "/login" && attempts > 3"#, true),
        (r#"cidr("10.0.0.0/8").containsIP(client.ip)"#, false),
        (r#"has(user.tenant) && user.tenant in ["acme", "globex"]"#, true),
        (r#"account == 17u && user.plan == "team" && user.previous_plan != "team""#, true),
        (r#"groups.exists(group, group.startsWith("admin")) && !device.managed"#, true),
        (r#"labels[?"region"].orValue("us") == "eu" || device.os == "ios""#, true),
    ] {
        let program = engine.compile(&env, rule)?;
        let result = program.test(&login)?;
        println!("{result:5}  {rule}");
        assert_eq!(result, expected);
    }

    // Expressions with other results than `bool` need memory for them: one `Scratch` per thread.
    let mut scratch = Scratch::new();
    let message = engine.compile(&env, r#""%s from %s".format([user.tenant, string(client.ip)])"#)?;
    let value = message.eval(&login, &mut scratch)?;
    println!("{value:?}");
    assert!(matches!(value, Value::String("acme from 203.0.113.7")));

    // A name that is not there is found before anything runs.
    let mistake = engine.compile(&env, "attempt > 3").expect_err("there is no `attempt`");
    println!("{mistake}");
    assert!(mistake.to_string().contains("did you mean `attempts`?"));
    Ok(())
}
