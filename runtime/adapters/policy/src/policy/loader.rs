//! Loads policies that use functions, variables and lists of their host.

use crate::expressions::purpose::Purpose;
use crate::file::error::PolicyError;
use crate::host::environment::HostEnvironment;
use crate::limits::remote::RemoteLimits;
use crate::phases::context::{BodyData, ConnectionData, LogData, RequestData, ResponseBodyData, ResponseData};
use crate::policy::Policy;
use crate::problems::Problems;
use crate::yaml::reach::Reach;
use celero::host::{ExtensionFields, Field, HostFunction};
use celero::lists::Lists;
use celero::{Bindings, Context, Env};
use std::path::Path;
use std::sync::Arc;

/// Loads policies whose expressions use functions, variables and lists of the host. Cheap to clone.
///
/// ```
/// use celero_policy::{Exchange, Outcome, Policy};
/// use std::sync::Arc;
///
/// #[derive(celero::Context)]
/// struct Tenant {
///     name: String,
///     seats: i64,
/// }
///
/// let loader = Policy::loader()
///     .function("plan", |tenant: &str| if tenant == "acme" { "pro" } else { "free" })
///     .variables_under::<Tenant>("tenant");
/// let text = "request: [{name: seats, when: tenant.seats > 5 && plan(tenant.name) == 'free', deny: 402}]";
/// let policy = loader.parse("policy.yaml", text, ".".as_ref())?;
///
/// let (mut head, ()) = http::Request::get("/").header("host", "example.com").body(())?.into_parts();
/// let mut exchange = Exchange::new(None, None);
/// exchange.set_variables(Arc::new(Tenant { name: "initech".into(), seats: 9 }));
/// let Outcome::Respond(answer) = policy.request(&mut head, &mut exchange).outcome else { panic!("it is denied") };
/// assert_eq!(answer.status, 402);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Loader {
    host: HostEnvironment,
    remote_limits: Option<Arc<dyn RemoteLimits>>,
    reach: Option<Arc<Reach>>,
}

impl Loader {
    /// Adds a function that expressions call as `name(a, b)`, as
    /// [`Env::function`](celero::Env::function) does. Rules of all phases may call it. A function
    /// that a policy defines with the same name and number of parameters is an error of the policy.
    pub fn function<M>(self, name: &str, function: impl HostFunction<M>) -> Self {
        self.with_host(|host| host.with_functions(|env| env.function(name, function)))
    }

    /// Adds a function that expressions call on its first parameter: `a.name(b)`.
    pub fn method<M>(self, name: &str, function: impl HostFunction<M>) -> Self {
        self.with_host(|host| host.with_functions(|env| env.method(name, function)))
    }

    /// Adds a function whose equal calls always give equal results, as
    /// [`Env::pure_function`](celero::Env::pure_function) does.
    pub fn pure_function<M>(self, name: &str, function: impl HostFunction<M>) -> Self {
        self.with_host(|host| host.with_functions(|env| env.pure_function(name, function)))
    }

    /// Adds a function that expressions call on its first parameter, `a.name(b)`, and whose equal
    /// calls always give equal results.
    pub fn pure_method<M>(self, name: &str, function: impl HostFunction<M>) -> Self {
        self.with_host(|host| host.with_functions(|env| env.pure_method(name, function)))
    }

    /// Adds the fields of a struct as variables: expressions of all phases but `connection` read
    /// them. For each request the host gives the values:
    /// [`Exchange::set_variables`](crate::Exchange::set_variables). A loader has the variables of
    /// one struct, those of the last call.
    ///
    /// A name that collides with one that policies have (`request.path`, `labels`, `jwt`), or is
    /// below it, is an error when a policy is loaded.
    pub fn variables<E: Context + Send + Sync + 'static>(self) -> Self {
        self.variables_under::<E>("")
    }

    /// As [`variables`](Self::variables), with names under a prefix: the field `plan` is
    /// `tenant.plan` under `tenant`.
    pub fn variables_under<E: Context + Send + Sync + 'static>(self, prefix: &str) -> Self {
        self.with_host(|host| host.with_variables(ExtensionFields::of::<E>().with_prefix(prefix)))
    }

    /// Adds the lists that the host keeps: expressions of all phases ask them as `value in lists.NAME` and
    /// `lists.NAME[key]`, like those that a policy declares. The host changes them when it likes; all policies of the
    /// loader, however often they are loaded again, see a change when it returns. A list that the host declares after a
    /// policy was loaded exists in those that are loaded later. A loader has the lists of the last call.
    ///
    /// A policy that declares a list of the same name is refused. In [`Policy::lists`](crate::Policy::lists) these
    /// lists come first, and can't be changed.
    ///
    /// ```
    /// use celero::lists::{Kind, Limits, Lists};
    /// use celero_policy::{Exchange, Outcome, Policy};
    ///
    /// let of_host = Lists::new(Limits::default());
    /// of_host.declare("banned", Kind::Texts)?;
    /// let text = "request: [{when: request.query in lists.banned, deny: 403}]";
    /// let policy = Policy::loader().lists(&of_host).parse("policy.yaml", text, ".".as_ref())?;
    ///
    /// let (head, ()) = http::Request::get("/?mallory").header("host", "example.com").body(())?.into_parts();
    /// let is_denied = || {
    ///     let decision = policy.request(&mut head.clone(), &mut Exchange::new(None, None));
    ///     matches!(decision.outcome, Outcome::Respond(_))
    /// };
    /// assert!(!is_denied());
    /// of_host.change().insert("banned", "mallory").commit()?;
    /// assert!(is_denied());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lists(self, lists: &Lists) -> Self {
        self.with_host(|host| host.with_lists(lists.clone()))
    }

    /// Sets the services that count limits of many machines, as
    /// [`Policy::set_remote_limits`](crate::Policy::set_remote_limits) does.
    pub fn remote_limits(self, services: Arc<dyn RemoteLimits>) -> Self {
        Self { remote_limits: Some(services), ..self }
    }

    /// Refuses policies with an expression that takes more operations than this by its
    /// [static cost](celero::settings::CheckedRule::static_cost), where lists and maps have 100 elements. A policy
    /// can set a lower bound, `maxOperations`, and no higher one.
    ///
    /// ```
    /// let loader = celero_policy::Policy::loader().max_operations(100);
    /// let text = "request: [{when: 'request.headers.exists(h, h == request.path)', deny: 403}]";
    /// let refused = loader.parse("policy.yaml", text, ".".as_ref()).unwrap_err().to_string();
    /// assert!(refused.contains("this takes up to 302 operations"), "{refused}");
    /// ```
    pub fn max_operations(self, most: u64) -> Self {
        self.with_host(|host| host.with_max_operations(most))
    }

    /// Returns the loader for texts that may use only these files and environment variables. What
    /// else they name is an error of theirs, and is not looked at. The main file that
    /// [`load`](Self::load) is given is read in any case.
    ///
    /// ```
    /// # use celero_policy::{Policy, Reach};
    /// let loader = Policy::loader().within(Reach::default());
    /// let text = "include: [/etc/hosts]\nrequest: [{deny: 403}]";
    /// assert!(loader.parse("policy.yaml", text, ".".as_ref()).unwrap_err().to_string().contains("out of reach"));
    /// ```
    pub fn within(self, reach: Reach) -> Self {
        Self { reach: Some(Arc::new(reach)), ..self }
    }

    /// Returns the loader for policies whose [cases](Policy::test) are run, with the functions of
    /// this one. Cases give values for the variables by their names, so rules do not read them from
    /// the struct, and any may be absent.
    ///
    /// ```
    /// # #[derive(celero::Context)]
    /// # struct Tenant {
    /// #     seats: i64,
    /// # }
    /// let loader = celero_policy::Policy::loader().variables_under::<Tenant>("tenant").for_cases();
    /// let text = "request: [{name: seats, when: tenant.seats > 5, deny: 402}]";
    /// let cases = "- {name: many, variables: {tenant.seats: 9}, expect: {status: 402}}";
    /// assert!(loader.parse("policy.yaml", text, ".".as_ref())?.test("cases.yaml", cases)?.passed());
    /// # Ok::<(), celero_policy::PolicyError>(())
    /// ```
    pub fn for_cases(self) -> Self {
        self.with_host(HostEnvironment::by_name)
    }

    /// Returns the variables that the host declares, if it has any.
    #[must_use]
    pub fn host_variables(&self) -> Option<&ExtensionFields> {
        self.host.variables()
    }

    /// Returns the lists that the host keeps, if it has any.
    #[must_use]
    pub fn host_lists(&self) -> Option<&Lists> {
        self.host.lists()
    }

    /// Returns an environment with the functions that the host declares, and nothing else.
    #[must_use]
    pub fn host_functions(&self) -> &Env<Bindings<'static>> {
        self.host.functions()
    }

    /// Returns a loader for a host that declares this.
    pub(crate) fn of_host(host: HostEnvironment) -> Self {
        Self { host, ..Self::default() }
    }

    /// Returns what the host declares.
    pub(crate) fn host(&self) -> &HostEnvironment {
        &self.host
    }

    fn with_host(self, change: impl FnOnce(HostEnvironment) -> HostEnvironment) -> Self {
        Self { host: change(self.host), ..self }
    }

    /// Loads a policy, as [`Policy::load`] does.
    ///
    /// # Errors
    /// Returns a [`PolicyError`] with every error in the files, or in what the host declares.
    pub fn load(&self, file: impl AsRef<Path>) -> Result<Policy, PolicyError> {
        let (policy, _) = Policy::read(file.as_ref(), self.problems(), Purpose::Run, &self.host)?;
        Ok(self.completed(policy))
    }

    /// Compiles a policy from its text, as [`Policy::parse`] does.
    ///
    /// # Errors
    /// See [`load`](Self::load).
    pub fn parse(&self, name: &str, text: &str, base: &Path) -> Result<Policy, PolicyError> {
        let (policy, _) = Policy::compile(name, text, base, self.problems(), Purpose::Run, &self.host)?;
        Ok(self.completed(policy))
    }

    /// Finds the errors and warnings of a policy, as [`Policy::check`] does.
    ///
    /// # Errors
    /// See [`load`](Self::load).
    pub fn check(&self, name: &str, text: &str, base: &Path) -> Result<Policy, PolicyError> {
        let purpose = if self.reach.is_some() { Purpose::Confined } else { Purpose::Check };
        let (policy, _) = Policy::compile(name, text, base, self.problems(), purpose, &self.host)?;
        Ok(self.completed(policy))
    }

    /// Describes a policy, as [`Policy::explain_text`] does.
    ///
    /// # Errors
    /// See [`load`](Self::load).
    pub fn explain_text(&self, name: &str, text: &str, base: &Path) -> Result<String, PolicyError> {
        let compiled = Policy::compile(name, text, base, self.problems(), Purpose::Explain, &self.host);
        compiled.map(|(policy, text)| policy.with_notes(text))
    }

    /// Returns no problems, of files that use only what they may.
    pub(crate) fn problems(&self) -> Problems {
        Problems::within(self.reach.clone())
    }

    fn completed(&self, mut policy: Policy) -> Policy {
        if let Some(services) = &self.remote_limits {
            policy.set_remote_limits(Arc::clone(services));
        }
        policy
    }
}

impl Policy {
    /// Returns a loader for policies that use functions, variables and lists of the host.
    pub fn loader() -> Loader {
        Loader::default()
    }
}

/// The variables of all phases.
pub(crate) fn own_variables() -> impl Iterator<Item = Field> {
    let phases = [
        ConnectionData::fields,
        RequestData::fields,
        BodyData::fields,
        ResponseData::fields,
        ResponseBodyData::fields,
        LogData::fields,
    ];
    phases.into_iter().flat_map(|fields| fields())
}
