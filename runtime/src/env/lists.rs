//! Named lists of the host: `value in lists.NAME`.

use super::{Env, EnvError};
use crate::function::NamedLists;
use celero_frontend::{LISTS, ListKey, ListValues, Type};
use celero_lists::{Kind, Lists, ScalarType, ValueType};

impl<C> Env<C> {
    /// Declares the lists that exist now: rules ask them as `value in lists.NAME`, and in the
    /// filter language as `value in $NAME`. Values of entries are read as `lists.NAME[key]`, or
    /// `lists.NAME[key].field` if they have fields; an absent key is the error `no such key`.
    ///
    /// Their entries may change at any time; rules need not be compiled again. An evaluation, of
    /// one rule or of a set, asks all lists in one generation and takes no lock. Lists that are
    /// declared in `lists` later are not known to these rules. Call it before
    /// [`filter_language`](Self::filter_language).
    ///
    /// A list of addresses is asked for a `net.IP` or a `string` that holds an address; another
    /// text is the error `invalid_argument`. Lists of texts, hosts, patterns and wildcards are
    /// asked for a `string`, lists of integers for an `int` or a `uint`.
    ///
    /// ```
    /// use celero::lists::{Kind, Limits, Lists};
    /// use celero::{Bindings, Engine, Env, Type, Value};
    ///
    /// let lists = Lists::new(Limits::default());
    /// lists.declare("blocked", Kind::Addresses)?;
    /// let env = Env::dynamic().variable("client", Type::String).lists(&lists);
    /// let program = Engine::new().compile(&env, "client in lists.blocked")?;
    ///
    /// let mut call = Bindings::new(&env);
    /// call.set("client", Value::String("192.0.2.7"))?;
    /// assert!(!program.test(&call)?);
    /// lists.change().insert("blocked", "192.0.2.0/24").commit()?;
    /// assert!(program.test(&call)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// With values:
    ///
    /// ```
    /// use celero::lists::{Limits, ListType, Lists};
    /// use celero::{Bindings, Engine, Env, Type, Value};
    ///
    /// let lists = Lists::new(Limits::default());
    /// lists.declare("geo", "addresses:{country: string, asn: int}".parse::<ListType>()?)?;
    /// let env = Env::dynamic().variable("client", Type::String).lists(&lists);
    /// let program = Engine::new().compile(&env, "client in lists.geo && lists.geo[client].country == 'DE'")?;
    ///
    /// let mut call = Bindings::new(&env);
    /// call.set("client", Value::String("192.0.2.7"))?;
    /// assert!(!program.test(&call)?);
    /// lists.change().insert_value("geo", "192.0.2.0/24", [("country", "DE".into())], None).commit()?;
    /// assert!(program.test(&call)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn lists(mut self, lists: &Lists) -> Self {
        if self.functions.lists().is_some() {
            self.problems.push(EnvError::new("the lists are declared twice".to_owned()));
            return self;
        }
        let lists = NamedLists::new(lists);
        for (name, ty) in lists.types.iter() {
            let full = format!("{LISTS}.{name}");
            if self.declarations.has_name(&full) || self.declarations.has_name(LISTS) {
                self.problems.push(EnvError::new(format!("list `{name}`: a variable hides `{full}`")));
            }
            self.declarations.add_list(name, key(ty.kind()), ty.values().map(values));
        }
        self.functions.set_lists(lists);
        self
    }

    /// Calls `f`, and lets all evaluations that this thread makes meanwhile ask the lists of the environment in one
    /// generation at one time, as [`Lists::pin`] does: for a decision and its explanation. Without lists it calls `f`.
    pub fn pin_lists<R>(&self, f: impl FnOnce() -> R) -> R {
        match self.functions.lists() {
            Some(named) => named.lists.pin(f),
            None => f(),
        }
    }
}

/// What the entries of a list carry, as types of CEL.
fn values(ty: &ValueType) -> ListValues {
    let of = |scalar: ScalarType| match scalar {
        ScalarType::Int => Type::Int,
        ScalarType::Bool => Type::Bool,
        _ => Type::String,
    };
    match ty.scalar() {
        Some(scalar) => ListValues::Scalar(of(scalar)),
        None => ListValues::Fields(ty.fields().iter().map(|field| (field.name().clone(), of(field.ty()))).collect()),
    }
}

/// What a list of this kind can be asked for.
fn key(kind: Kind) -> ListKey {
    match kind {
        Kind::Addresses => ListKey::Address,
        Kind::Integers => ListKey::Integer,
        // Further kinds are kinds of texts.
        _ => ListKey::Text,
    }
}
