//! Functions that are defined in CEL.

use super::{Env, EnvError, names, overlap};
use celero_frontend::{FunctionDeclaration, Limits, Parameter, RECEIVER, Span, define, misdeclared};
use std::collections::HashSet;

impl<C> Env<C> {
    /// Defines a function in CEL: `name(parameter: type, ..) -> type`, or
    /// `type.name(parameter: type, ..) -> type` for one that rules call on a value, `this` in the
    /// body. A parameter without a type is `dyn`; a result without one has the type of the body.
    /// Names may be qualified: if the text before the last dot is a type, it is the receiver's
    /// type; otherwise it is a part of the name.
    ///
    /// ```
    /// # use celero::{Bindings, Engine, Env, Type};
    /// let env = Env::dynamic()
    ///     .variable("peer", Type::String)
    ///     .define("internal(address: string) -> bool", "cidr('10.0.0.0/8').containsIP(address)")
    ///     .define("string.initial() -> string", "this.substring(0, 1)");
    /// let rule = Engine::new().compile(&env, "internal(peer) && peer.initial() == '1'").unwrap();
    /// let mut bindings = Bindings::new(&env);
    /// bindings.set("peer", "10.1.2.3").unwrap();
    /// assert_eq!(rule.test(&bindings), Ok(true));
    /// ```
    ///
    /// The body is checked here, once. It can use its parameters and what the environment declares
    /// so far: variables, functions and earlier definitions. So no definition calls itself, and how
    /// long a rule runs is bounded as it is without definitions. Rules are compiled with the bodies
    /// in the places of the calls, and with these are subject to
    /// [`SourceLimits`](crate::settings::SourceLimits).
    ///
    /// Arguments are evaluated as by `cel.bind`: each is evaluated at most once, and its error
    /// surfaces where the body uses it. One whose value is not of the parameter's type is the error
    /// `no_such_overload` there. An error in a body has the place of the call.
    ///
    /// What is wrong is in [`problems`](Env::problems): also a function of the same name, form and
    /// number of parameters as another one.
    #[must_use]
    pub fn define(mut self, declaration: &str, body: &str) -> Self {
        if let Err(problem) = self.try_define(declaration, body, &Limits::default()) {
            self.problems.push(problem);
        }
        self
    }

    /// Defines a name for an expression: rules mention it as they do a variable, and it costs what
    /// the expression costs. It may be qualified. Else as [`define`](Self::define).
    ///
    /// ```
    /// # use celero::{Bindings, Engine, Env, Type};
    /// let env = Env::dynamic()
    ///     .variable("peer", Type::String)
    ///     .alias("is.internal", "cidr('10.0.0.0/8').containsIP(peer)");
    /// let rule = Engine::new().compile(&env, "!is.internal").unwrap();
    /// let mut bindings = Bindings::new(&env);
    /// bindings.set("peer", "192.0.2.1").unwrap();
    /// assert_eq!(rule.test(&bindings), Ok(true));
    /// ```
    #[must_use]
    pub fn alias(mut self, name: &str, body: &str) -> Self {
        if let Err(problem) = self.try_alias(name, body, &Limits::default()) {
            self.problems.push(problem);
        }
        self
    }

    /// Defines a name for an expression within other limits than the default ones. Else as [`alias`](Self::alias).
    ///
    /// # Errors
    /// What is wrong, with at most `max_diagnostics` findings; with 0 nothing is suggested either.
    /// The environment is then as it was.
    pub fn try_alias(&mut self, name: &str, body: &str, limits: &Limits) -> Result<(), EnvError> {
        let wrong = |reason| EnvError::new(format!("name `{name}`: {reason}"));
        names::variable(name).map_err(wrong)?;
        if self.declarations.has_name(name) {
            return Err(wrong("it is declared already".to_owned()));
        }
        let declaration = FunctionDeclaration::alias(name);
        let definition = define(&self.declarations, &declaration, body, limits)
            .map_err(|found| EnvError::of_body(name, body, found))?;
        self.declarations.add_alias(definition);
        Ok(())
    }

    /// Defines a function in CEL within other limits than the default ones. Else as [`define`](Self::define).
    ///
    /// # Errors
    /// As of [`try_alias`](Self::try_alias). The environment is then as it was.
    pub fn try_define(&mut self, declaration: &str, body: &str, limits: &Limits) -> Result<(), EnvError> {
        let text = declaration;
        let wrong = |name: &str, span, message| EnvError::of_declaration(name, text, vec![misdeclared(span, message)]);
        let declaration =
            FunctionDeclaration::parse(text).map_err(|error| wrong(text.trim(), error.span, error.message))?;
        let FunctionDeclaration { name, span, receiver, parameters, .. } = &declaration;
        let count = parameters.len().saturating_add(usize::from(receiver.is_some()));
        names::function(name, receiver.is_some(), count)
            .and_then(|()| overlap::of_definition(&self.declarations, name, receiver.is_some(), count))
            .map_err(|reason| wrong(name, *span, reason))?;
        named(receiver.is_some(), parameters).map_err(|(span, reason)| wrong(name, span, reason))?;
        let definition = define(&self.declarations, &declaration, body, limits)
            .map_err(|found| EnvError::of_body(name, body, found))?;
        self.declarations.add_definition(definition);
        Ok(())
    }
}

/// Whether all parameters have distinct names that the body can mention.
fn named(receiver: bool, parameters: &[Parameter]) -> Result<(), (Span, String)> {
    let mut known: HashSet<&str> = receiver.then_some(RECEIVER).into_iter().collect();
    for Parameter { name, span, .. } in parameters {
        names::parameter(name).map_err(|reason| (*span, reason))?;
        if !known.insert(name) {
            return Err((*span, format!("two parameters are called `{name}`")));
        }
    }
    Ok(())
}
