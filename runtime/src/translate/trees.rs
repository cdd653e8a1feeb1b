//! Compiles the trees that implementations of CEL exchange, and makes them of checked expressions.

use crate::cel::CheckedTree;
use crate::cel::trees::{Tree, TreeError};
use crate::context::Context;
use crate::engine::{Engine, Program};
use crate::env::Env;
use crate::expression::CheckedRule;
use celero_frontend::Cel;

impl Engine {
    /// Checks the expression that a tree stands for, as [`check`](Self::check) checks a source. Its source is the
    /// canonical text of the tree.
    ///
    /// The tree may be parsed or checked, and may come from anyone: its types and references are computed anew. A
    /// checked tree whose names refer to other variables, types or constants than those of the environment, or to
    /// variables of other types, is refused; overloads are those of the function's name and of the types here.
    /// Comprehensions must be expansions of the macros of CEL and of cel-go's libraries; they become these macros
    /// again.
    ///
    /// # Errors
    /// What has no meaning in CEL or is not supported, with the part of the tree and its place in the source, if the
    /// tree says where that is; and what [`check`](Self::check) refuses.
    pub fn check_tree<C: Context>(&self, env: &Env<C>, tree: &Tree) -> Result<CheckedRule, TreeError> {
        let env = env.clone().language(Cel);
        let source = tree.source(env.declarations(), &self.limits().source)?;
        let rule = self.check(&env, source.text()).map_err(|error| {
            let place = error.diagnostics().first().and_then(|first| source.place(first.span));
            TreeError::of_expression(error, place)
        })?;
        if let Some(checked) = rule.expression().tree().downcast::<CheckedTree>() {
            source.refuse_other_names(tree, checked.as_written(), env.declarations())?;
        }
        Ok(rule)
    }

    /// Compiles the expression that a tree stands for. What is said of [`check_tree`](Self::check_tree) holds.
    ///
    /// ```
    /// use celero::trees::{Tree, TreeKind};
    /// use celero::{Bindings, Engine, Env, Type};
    ///
    /// let (engine, env) = (Engine::new(), Env::dynamic().variable("age", Type::Int));
    /// let limits = engine.limits().source;
    /// let json = r#"{"expr": {"id": "2", "callExpr": {"function": "_>=_", "args": [
    ///     {"id": "1", "identExpr": {"name": "age"}}, {"id": "3", "constExpr": {"int64Value": "18"}}]}}}"#;
    /// let tree = Tree::from_json(TreeKind::Parsed, json, &limits)?;
    /// let rule = engine.compile_tree(&env, &tree)?;
    /// let mut call = Bindings::new(&env);
    /// call.set("age", 41)?;
    /// assert!(rule.test(&call)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`check_tree`](Self::check_tree), and as [`compile_checked`](Self::compile_checked).
    pub fn compile_tree<C: Context>(&self, env: &Env<C>, tree: &Tree) -> Result<Program<C::Static>, TreeError> {
        let rule = self.check_tree(env, tree)?;
        self.compile_checked(env, &rule).map_err(|error| TreeError::of_expression(error, None))
    }

    /// Returns the tree `cel.expr.ParsedExpr` of a rule that was checked for this environment: the expression as
    /// written, with expanded macros. [`Tree::parse`] makes one of a source without an environment.
    ///
    /// # Errors
    /// The rule was checked for another environment, or is not in CEL.
    pub fn parsed_tree<C: Context>(&self, env: &Env<C>, rule: &CheckedRule) -> Result<Tree, TreeError> {
        rule.expression_for(env).map_err(|error| TreeError::of_expression(error, None))?;
        Ok(Tree::of_parsed(written(rule)?.as_written().ast()))
    }

    /// Returns the tree `cel.expr.CheckedExpr` of a rule that was checked for this environment.
    ///
    /// Macros are expanded as cel-go expands them, names and functions are written in full, and overloads have the
    /// identifiers of the language definition and of cel-go. What only celero has stays a call of a name that no
    /// function can have, or refers to names that other implementations do not know: they refuse it.
    ///
    /// ```
    /// use celero::trees::{Tree, TreeKind};
    /// use celero::{Engine, Env, Type};
    ///
    /// let (engine, env) = (Engine::new(), Env::dynamic().variable("groups", Type::list(Type::String)));
    /// let rule = engine.check(&env, "groups.exists(g, g == 'admin')")?;
    /// let bytes = engine.checked_tree(&env, &rule)?.to_bytes();
    ///
    /// let tree = Tree::from_bytes(TreeKind::Checked, &bytes, &engine.limits().source)?;
    /// let again = engine.check_tree(&env, &tree)?;
    /// assert_eq!(again.source(), r#"groups.exists(g, g == "admin")"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The rule was checked for another environment, or is not in CEL.
    pub fn checked_tree<C: Context>(&self, env: &Env<C>, rule: &CheckedRule) -> Result<Tree, TreeError> {
        rule.expression_for(env).map_err(|error| TreeError::of_expression(error, None))?;
        Ok(Tree::of_checked(written(rule)?.as_written(), env.declarations()))
    }
}

/// The tree of a rule in CEL.
fn written(rule: &CheckedRule) -> Result<&CheckedTree, TreeError> {
    let tree = rule.expression().tree().downcast::<CheckedTree>();
    tree.ok_or_else(|| TreeError::new("the rule is not in CEL"))
}
