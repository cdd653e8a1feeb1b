//! Fields of an extension: read as those of the context are, and only of the type that the rules were compiled for.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero::host::{Extension, ExtensionFields, Host};
use celero::layout::Access;
use celero::sets::Indexing;
use celero::values::{Arena, EvalResult};
use celero::{Context, Engine, Env, ErrorKind, ErrorPolicy, FieldType, Scratch, Tier, Type, Value};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A library's data, with the extension behind a reference and in a struct of its own.
#[derive(Context)]
struct Call<'a> {
    path: &'a str,
    #[context(nested)]
    part: Part<'a>,
}

#[derive(Context)]
struct Part<'a> {
    size: i64,
    #[context(flatten)]
    rest: &'a Rest,
    last: bool,
}

#[derive(Context)]
struct Rest {
    labels: BTreeMap<String, String>,
    #[context(flatten)]
    extension: Extension,
}

impl Rest {
    fn new(extension: Extension) -> Self {
        Self { labels: BTreeMap::from([("a".to_owned(), "b".to_owned())]), extension }
    }

    fn call(&self) -> Call<'_> {
        Call { path: "/x", part: Part { size: 7, rest: self, last: true } }
    }
}

#[derive(FieldType)]
enum Plan {
    Free,
    #[context(name = "pro")]
    Paid,
}

#[derive(Context)]
struct Team {
    name: String,
    seats: u16,
}

fn initial(name: &Arc<str>) -> Option<&str> {
    name.get(..1)
}

fn length(name: &Arc<str>) -> i64 {
    i64::try_from(name.len()).unwrap()
}

fn loud(name: &Arc<str>) -> String {
    name.to_uppercase()
}

/// A program's data: a field for each way in which native code reads one.
#[derive(Context)]
#[context(prefix = "own")]
struct Own {
    flag: bool,
    number: i64,
    small: u8,
    share: f64,
    text: String,
    some: Option<String>,
    none: Option<String>,
    shared: Arc<str>,
    bytes: Vec<u8>,
    address: IpAddr,
    time: SystemTime,
    lasts: Duration,
    texts: Vec<String>,
    set: HashSet<i64>,
    map: HashMap<String, i64>,
    plan: Plan,
    other_plan: Option<Plan>,
    #[context(nested)]
    team: Team,
    #[context(nested)]
    boxed: Box<Team>,
    #[context(nested)]
    missing: Option<Team>,
    teams: Vec<Team>,
    #[context(with = initial)]
    initial: Arc<str>,
    #[context(with = length)]
    length: Arc<str>,
    #[context(with = loud)]
    loud: Arc<str>,
}

impl Own {
    fn new() -> Self {
        let team = |name: &str| Team { name: name.to_owned(), seats: 12 };
        Self {
            flag: true,
            number: -5,
            small: 200,
            share: 0.25,
            text: "acmé".to_owned(),
            some: Some("some".to_owned()),
            none: None,
            shared: "shared".into(),
            bytes: vec![0, 255],
            address: "2001:db8::1".parse().unwrap(),
            time: SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(1_700_000_000)).unwrap(),
            lasts: Duration::from_millis(1500),
            texts: vec!["a".to_owned(), "b".to_owned()],
            set: HashSet::from([3]),
            map: HashMap::from([("k".to_owned(), 9)]),
            plan: Plan::Paid,
            other_plan: Some(Plan::Free),
            team: team("core"),
            boxed: Box::new(team("box")),
            missing: None,
            teams: vec![team("one"), team("two")],
            initial: "anna".into(),
            length: "four".into(),
            loud: "quiet".into(),
        }
    }
}

fn engines() -> [Engine; 3] {
    [(Tier::Interpret, true), (Tier::Native, true), (Tier::Native, false)]
        .map(|(tier, optimize)| Engine::builder().tier(tier).optimize(optimize).build())
}

/// The result of a rule in all tiers, which must agree.
fn result<S: Context<Static = S> + 'static, C: Context<Static = S>>(env: &Env<S>, context: &C, rule: &str) -> String {
    let results = engines().map(|engine| {
        let program = engine.compile(env, rule).unwrap();
        let scratch = &mut Scratch::new();
        match program.eval(context, scratch) {
            Ok(value) => format!("{value:?}"),
            Err(error) => format!("{:?} at {}..{}", error.kind, error.start, error.end),
        }
    });
    let [interpreted, native, plain] = results;
    assert_eq!(interpreted, native, "{rule}");
    assert_eq!(interpreted, plain, "{rule}, without passes");
    interpreted
}

#[test]
fn every_field_is_read_as_from_its_own_struct() {
    let (alone, extended) = (Env::<Own>::new(), Env::<Call<'_>>::new().extend(&ExtensionFields::of::<Own>()));
    assert!(alone.problems().is_empty() && extended.problems().is_empty());
    let (own, rest) = (Own::new(), Rest::new(Extension::new(Arc::new(Own::new()))));
    let call = rest.call();
    let before = Env::<Call<'_>>::new().fields().len();
    let mut in_place = 0;
    for (field, layout) in Own::fields().iter().zip(&extended.fields()[before..]) {
        let name = &field.name;
        assert_eq!(layout.access == Access::Get, field.layout.access == Access::Get, "{name}");
        assert_eq!(layout.optional, field.layout.optional, "{name}");
        assert_eq!(layout.elements.is_some(), field.layout.elements.is_some(), "{name}");
        assert_eq!(layout.entries.is_some(), field.layout.entries.is_some(), "{name}");
        in_place += usize::from(layout.access != Access::Get);
        for rule in [name.clone(), format!("has({name}) ? 1 : 2"), format!("[{name}, {name}]")] {
            let Some((_, _)) = name.rsplit_once('.') else { continue };
            assert_eq!(result(&extended, &call, &rule), result(&alone, &own, &rule), "{rule}");
        }
    }
    assert!(in_place > 20, "only {in_place} fields are read in place");
    for rule in [
        "own.texts.exists(t, t == 'b') && 'a' in own.texts && own.texts.size() == 2",
        "3 in own.set && own.map['k'] == 9 && own.map.exists(k, k == 'k')",
        "own.teams.all(t, t.seats == 12u) && own.teams[1].name == 'two'",
        "own.plan == 'pro' && own.otherPlan == 'x'",
        "own.missing.name == 'x'",
        "ip(own.address) == ip('2001:db8::1')",
        "own.text.startsWith('ac') && own.loud == 'QUIET' && own.initial == 'a' && own.length == 4",
    ] {
        let rule = rule.replace("otherPlan", "other_plan");
        assert_eq!(result(&extended, &call, &rule), result(&alone, &own, &rule), "{rule}");
    }
}

#[test]
fn fields_of_the_context_stay_what_they_are() {
    let env = Env::<Call<'_>>::new().extend(&ExtensionFields::of::<Own>());
    let rest = Rest::new(Extension::new(Arc::new(Own::new())));
    for (rule, expected) in [
        ("path + string(part.size) + part.labels['a'] + string(part.last)", "String(\"/x7btrue\")"),
        ("part.last && own.flag && part.size - own.number == 12", "Bool(true)"),
    ] {
        assert_eq!(result(&env, &rest.call(), rule), expected);
    }
    // Rules without an extension run with any.
    let plain = Env::<Call<'_>>::new();
    assert_eq!(result(&plain, &rest.call(), "part.last && path == '/x'"), "Bool(true)");
    assert!(engines()[0].compile(&plain, "own.flag").is_err());
}

#[test]
fn rules_run_with_the_type_that_they_were_compiled_for() {
    /// The same names and types as `Team`, in another order.
    #[derive(Context)]
    struct Imitation {
        seats: u16,
        name: String,
    }
    let env = Env::<Call<'_>>::new().extend(&ExtensionFields::of::<Team>());
    let right = Rest::new(Extension::new(Arc::new(Team { name: "a".to_owned(), seats: 1 })));
    let wrong = [
        Rest::new(Extension::default()),
        Rest::new(Extension::new(Arc::new(Imitation { name: "a".to_owned(), seats: 1 }))),
        Rest::new(Extension::new(Arc::new(Own::new()))),
        Rest::new(Extension::of_declared(
            &ExtensionFields::declared([("name".to_owned(), Type::String, true)]),
            Arc::new(Team { name: "a".to_owned(), seats: 1 }),
        )),
        Rest::new(Extension::of_declared(&ExtensionFields::of::<Team>(), Arc::new(Own::new()))),
    ];
    for engine in engines() {
        let scratch = &mut Scratch::new();
        let program = engine.compile(&env, "name == 'a' && seats == 1u").unwrap();
        let rules = engine.rules(&env).rule("name", "name == 'a'", ()).rule("seats", "seats < 2u", ());
        let rules = rules.standalone(true).index(Indexing::Always).on_error(ErrorPolicy::NoMatch).build().unwrap();
        assert_eq!(program.test(&right.call()), Ok(true));
        assert_eq!(rules.indices(&right.call(), scratch).unwrap(), [0, 1]);
        for wrong in &wrong {
            let call = wrong.call();
            assert_eq!(program.test(&call).unwrap_err().kind, ErrorKind::Host);
            assert_eq!(program.test_with(&call, scratch).unwrap_err().kind, ErrorKind::Host);
            assert_eq!(program.eval(&call, scratch).unwrap_err().kind, ErrorKind::Host);
            assert!(program.trace(&call, scratch).is_err());
            assert_eq!(rules.test(1, &call, scratch).unwrap().unwrap_err().kind, ErrorKind::Host);
            assert!(rules.indices(&call, scratch).unwrap().is_empty());
            assert_eq!(scratch.errors().len(), 2, "all rules fail");
            assert_eq!(rules.candidates(&call, scratch), [0, 1], "nothing is looked up");
        }
    }
}

/// Gives its values by index.
struct Values(fn(u32) -> Option<Value<'static>>);

impl Host for Values {
    fn field<'s>(&'s self, index: u32, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok((self.0)(index))
    }
}

#[test]
fn declared_fields_are_given_by_index() {
    let declared =
        [("a", Type::String), ("b", Type::Int), ("c", Type::Dyn)].map(|(name, ty)| (name.to_owned(), ty, true));
    let fields = ExtensionFields::declared(declared).with_prefix("own");
    let env = Env::<Call<'_>>::new().extend(&fields);
    let values = Values(|index| match index {
        0 => Some(Value::String("x")),
        2 => Some(Value::Bool(true)),
        _ => None,
    });
    let rest = Rest::new(Extension::of_declared(&fields, Arc::new(values)));
    assert!(rest.extension.has(&fields) && Extension::default().has(&fields));
    for (rule, expected) in [
        ("own.a == 'x' && own.c", "Bool(true)"),
        ("has(own.b)", "Bool(false)"),
        ("own.b == 1", "NoSuchKey at 0..5"),
        ("own.b == 1 || own.c", "Bool(true)"),
    ] {
        assert_eq!(result(&env, &rest.call(), rule), expected, "{rule}");
    }
    let empty = Rest::new(Extension::default());
    assert_eq!(result(&env, &empty.call(), "has(own.a) || has(own.b) || has(own.c)"), "Bool(false)");
    // A value of another type is an error, not taken for what was declared.
    let lying = Rest::new(Extension::of_declared(&fields, Arc::new(Values(|_| Some(Value::Int(1))))));
    assert_eq!(result(&env, &lying.call(), "own.a.startsWith('x')"), "NoSuchOverload at 0..21");
}

#[test]
fn what_cannot_be_extended_says_so() {
    #[derive(Context)]
    struct Path {
        path: String,
    }
    let own = ExtensionFields::of::<Own>();
    let problems = |problems: &[celero::host::EnvError]| problems.iter().map(ToString::to_string).collect::<Vec<_>>();
    let message = |reason| format!("the context can't be extended: {reason}");
    assert!(Env::<Call<'_>>::is_extensible() && !Env::<Path>::is_extensible());
    let no_place = message("it has no field `Extension` with `#[context(flatten)]`");
    assert_eq!(problems(Env::<Path>::new().extend(&own).problems()), [no_place]);
    let twice = Env::<Call<'_>>::new().extend(&own).extend(&own);
    assert_eq!(problems(twice.problems()), [message("it was extended before")]);
    let twice = ExtensionFields::of::<Path>();
    assert_eq!(problems(Env::<Call<'_>>::new().extend(&twice).problems()), ["variable `path` is declared twice"]);
}

#[test]
fn functions_are_taken_from_another_environment() {
    let functions = Env::dynamic().function("twice", |n: i64| n * 2).method("shout", |text: &str| text.to_uppercase());
    let env = Env::<Call<'_>>::new().functions_of(&functions).declare_function("plan(tenant: string) -> string");
    let rest = Rest::new(Extension::default());
    for (rule, expected) in
        [("twice(part.size)", "Int(14)"), ("path.shout()", "String(\"/X\")"), ("plan(path) == 'pro'", "Host at 0..10")]
    {
        assert_eq!(result(&env, &rest.call(), rule), expected, "{rule}");
    }
    assert!(engines()[0].compile(&env, "plan(1)").is_err());
    let report = engines()[0].compile(&env, "plan('a')").unwrap();
    let error = report.test(&rest.call()).unwrap_err();
    let words = report.describe(&error, &rest.call()).to_string();
    assert_eq!(
        words,
        "`plan` failed; its last message on this thread: it is only declared here, and has no code (at 0..9)"
    );
    let wrong = env.declare_function("plan(").declare_function("plan(x: string)");
    assert_eq!(wrong.problems().len(), 2, "{:?}", wrong.problems());
}
