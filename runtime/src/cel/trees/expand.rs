//! The expansions of the macros that declare variables.

use super::build::{Builder, Loop, Made};
use super::export::Exporter;
use super::numbers::{
    ACCUMULATOR, ADD, AND, CONDITIONAL, EQUAL, FILTER_KEYS, HAS_VALUE, MAP_INSERT, MAP_VALUES, NOT, NOT_STRICTLY_FALSE,
    OPTIONAL_NONE, OPTIONAL_OF, OR, SORT_BY_INPUT, SORT_BY_KEYS, TARGET, UNUSED, VALUE, expr,
};
use super::schema::Shape;
use celero_frontend::{Expr, FoldKind, Literal, Name, NodeId, Type};

/// The variable of the parser that holds the list of a `sortBy`.
const RANGE: &str = "@range";

/// The parts of a fold.
#[derive(Clone, Copy)]
struct Fold {
    kind: FoldKind,
    range: NodeId,
    var: Name,
    var2: Option<Name>,
    filter: Option<NodeId>,
    transform: Option<NodeId>,
}

impl Exporter<'_> {
    /// The expansion of a macro with variables.
    pub(super) fn expansion(&mut self, id: i64, node: NodeId) -> Made {
        match *self.ast.expr(node) {
            Expr::Fold { kind, range, var, var2, filter, transform } => {
                let fold = Fold { kind, range, var, var2, filter, transform };
                match kind {
                    FoldKind::MapValues | FoldKind::FilterKeys => self.over_entries(id, fold),
                    _ => self.fold(id, node, fold),
                }
            }
            Expr::Bind { var, init, body, .. } if self.ast.name(var) == RANGE => self.sort_by(id, node, init, body),
            Expr::Bind { var, init, body, with } => {
                let variable = self.variable(var, &self.type_of(init));
                let init_made = self.node(init);
                let body_made = self.within(&[var], |exporter| exporter.node(body));
                self.begin_again(node);
                let name = self.ast.name(var).to_owned();
                let made = self.bound(id, &name, (init_made, &self.type_of(init)), body_made);
                if with {
                    return self.build.expanded(made, Some(init_made), "with", &[variable, body_made]);
                }
                let cel = self.build.new_id();
                let cel = self.build.ident(cel, "cel");
                self.build.expanded(made, Some(cel), "bind", &[variable, init_made, body_made])
            }
            Expr::OptMap { target, var, body, flat } => self.optional_map(id, node, target, var, body, flat),
            // Not called for others.
            _ => self.build.ident(id, "<error>"),
        }
    }

    /// A variable of a macro where it is declared.
    fn variable(&mut self, name: Name, ty: &Type) -> Made {
        let text = self.ast.name(name).to_owned();
        let id = self.build.new_id();
        self.build.set_type(id, ty);
        self.build.ident(id, &text)
    }

    fn within<R>(&mut self, variables: &[Name], make: impl FnOnce(&mut Self) -> R) -> R {
        let outside = self.scope.len();
        self.scope.extend_from_slice(variables);
        let made = make(self);
        self.scope.truncate(outside);
        made
    }

    /// `cel.bind(name, init, body)`: a comprehension over nothing.
    fn bound(&mut self, id: i64, name: &str, (init, ty): (Made, &Type), body: Made) -> Made {
        let range = self.build.new_list(&[], &Type::list(Type::Dyn));
        let condition = self.build.new_literal(&Literal::Bool(false));
        let step = self.build.new_ident(name, ty);
        let loops = Loop { variables: (UNUSED, None), range, accumulator: name, init, condition, step, result: body };
        self.build.comprehension(id, &loops)
    }

    fn fold(&mut self, id: i64, node: NodeId, fold: Fold) -> Made {
        let Fold { kind, range, var, var2, filter, transform } = fold;
        let (first, second) = element_types(&self.type_of(range), var2.is_some());
        let result_type = self.type_of(node);
        let range = self.node(range);
        self.begin_again(node);
        let variables: Vec<Made> = match var2 {
            Some(var2) => vec![self.variable(var, &first), self.variable(var2, &second)],
            None => vec![self.variable(var, &first)],
        };
        let names: Vec<Name> = [Some(var), var2].into_iter().flatten().collect();
        let (filter, transform) = self.within(&names, |exporter| {
            (filter.map(|filter| exporter.node(filter)), transform.map(|transform| exporter.node(transform)))
        });
        self.begin_again(node);
        let (name, second_name) = (self.ast.name(var).to_owned(), var2.map(|var2| self.ast.name(var2).to_owned()));
        let element = match kind {
            // The variable itself.
            FoldKind::Filter => {
                if let Some(variable) = variables.first() {
                    self.build.refer_to_name(variable.id, &name, None);
                }
                variables.first().copied()
            }
            _ => transform,
        };
        let key = if matches!(kind, FoldKind::TransformMap) { Some(self.build.new_ident(&name, &first)) } else { None };
        let accumulated = match kind {
            FoldKind::ExistsOne => Type::Int,
            _ => result_type,
        };
        let build = &mut self.build;
        let (init, condition, step, result) = match (kind, filter) {
            (FoldKind::All, Some(predicate)) => quantifier(build, true, predicate),
            (FoldKind::Exists, Some(predicate)) => quantifier(build, false, predicate),
            (FoldKind::ExistsOne, _) => {
                let init = build.new_literal(&Literal::Int(0));
                let condition = build.new_literal(&Literal::Bool(true));
                let (accu, one) = (build.accumulator(&Type::Int), build.new_literal(&Literal::Int(1)));
                let step = build.new_call(ADD, &[accu, one], "add_int64", &Type::Int);
                let step = only_if(build, filter, step, &Type::Int);
                let (accu, one) = (build.accumulator(&Type::Int), build.new_literal(&Literal::Int(1)));
                (init, condition, step, build.new_call(EQUAL, &[accu, one], "equals", &Type::Bool))
            }
            _ => {
                let over_map = matches!(kind, FoldKind::TransformMap | FoldKind::TransformMapEntry);
                let init = if over_map {
                    let id = build.new_id();
                    build.set_type(id, &accumulated);
                    build.expr(id, expr::STRUCT, Shape::CreateStruct, Vec::new())
                } else {
                    build.new_list(&[], &accumulated)
                };
                let condition = build.new_literal(&Literal::Bool(true));
                let accu = build.accumulator(&accumulated);
                let step = match (key, element) {
                    (Some(key), Some(element)) => {
                        let args = [accu, key, element];
                        build.new_call(MAP_INSERT, &args, "@mapInsert_map_key_value", &accumulated)
                    }
                    (_, Some(element)) if over_map => {
                        build.new_call(MAP_INSERT, &[accu, element], "@mapInsert_map_map", &accumulated)
                    }
                    (_, element) => {
                        let one: Vec<Made> = element.into_iter().collect();
                        let one = build.new_list(&one, &accumulated);
                        build.new_call(ADD, &[accu, one], "add_list", &accumulated)
                    }
                };
                let step = only_if(build, filter, step, &accumulated);
                (init, condition, step, build.accumulator(&accumulated))
            }
        };
        let variables_of = (name.as_str(), second_name.as_deref());
        let loops = Loop { variables: variables_of, range, accumulator: ACCUMULATOR, init, condition, step, result };
        let made = build.comprehension(id, &loops);
        let written = self.ast.source().get(self.focus(node)).unwrap_or_default();
        // `exists_one` has two names.
        let written = if written == "existsOne" { written } else { kind.name() };
        let arguments: Vec<Made> = variables.into_iter().chain(filter).chain(transform).collect();
        self.build.expanded(made, Some(range), written, &arguments)
    }

    fn focus(&self, node: NodeId) -> std::ops::Range<usize> {
        let focus = self.ast.node(node).focus;
        focus.start as usize..focus.end as usize
    }

    /// `mapValues` and `filterKeys`, which refuse lists where the standard comprehensions take them.
    fn over_entries(&mut self, id: i64, fold: Fold) -> Made {
        let Fold { kind, range, var, var2, filter, transform } = fold;
        let (key, value) = element_types(&self.type_of(range), true);
        let (function, variable, body, ty) = match (kind, var2) {
            (FoldKind::MapValues, Some(var2)) => (MAP_VALUES, var2, transform, value),
            _ => (FILTER_KEYS, var, filter, key),
        };
        let range = self.node(range);
        let declared = self.variable(variable, &ty);
        let body = self.within(&[variable], |exporter| body.map(|body| exporter.node(body)));
        self.build.refer_to_overloads(id, &[function]);
        let args: Vec<Made> = [declared].into_iter().chain(body).collect();
        self.build.call(id, Some(range), function, &args)
    }

    /// `range.sortBy(x, key)`, which the parser expands to a call of `@sortBy` with the range and the list of the keys.
    fn sort_by(&mut self, id: i64, node: NodeId, range: NodeId, body: NodeId) -> Made {
        let range_type = self.type_of(range);
        let keys = match self.ast.expr(body) {
            Expr::Call { args, .. } => self.ast.children(*args).get(1).copied(),
            _ => None,
        };
        let fold = keys.and_then(|keys| match *self.ast.expr(keys) {
            Expr::Fold { var, transform: Some(key), .. } => Some((keys, var, key)),
            _ => None,
        });
        let Some((keys, var, key)) = fold else { return self.build.ident(id, "<error>") };
        let range = self.node(range);
        self.begin_again(node);
        let variable = self.variable(var, &element_types(&range_type, false).0);
        let key = self.within(&[var], |exporter| exporter.node(key));
        self.begin_again(node);
        let keys_type = self.type_of(keys);
        let build = &mut self.build;
        let init = build.new_list(&[], &keys_type);
        let condition = build.new_literal(&Literal::Bool(true));
        let (accu, one) = (build.accumulator(&keys_type), build.new_list(&[key], &keys_type));
        let step = build.new_call(ADD, &[accu, one], "add_list", &keys_type);
        let result = build.accumulator(&keys_type);
        let (input, map_id) = (build.new_ident(SORT_BY_INPUT, &range_type), build.new_id());
        build.set_type(map_id, &keys_type);
        let name = self.ast.name(var);
        let loops =
            Loop { variables: (name, None), range: input, accumulator: ACCUMULATOR, init, condition, step, result };
        let map = build.comprehension(map_id, &loops);
        let (input, call) = (build.new_ident(SORT_BY_INPUT, &range_type), build.new_id());
        let body_type = self.type_of(body);
        self.build.set_type(call, &body_type);
        let reference = self.reference(body);
        self.refer(call, reference, "");
        let call = self.build.call(call, Some(input), SORT_BY_KEYS, &[map]);
        let made = self.bound(id, SORT_BY_INPUT, (range, &range_type), call);
        self.build.expanded(made, Some(range), "sortBy", &[variable, key])
    }

    /// `target.optMap(x, body)` and `target.optFlatMap(x, body)`.
    fn optional_map(&mut self, id: i64, node: NodeId, target: NodeId, var: Name, body: NodeId, flat: bool) -> Made {
        let (target_type, body_type, result_type) = (self.type_of(target), self.type_of(body), self.type_of(node));
        let inner = match &target_type {
            Type::Optional(inner) => Type::clone(inner),
            _ => Type::Dyn,
        };
        // A name is read twice, another target is bound first.
        let is_name = matches!(self.ast.expr(target), Expr::Ident { test: false, .. });
        let target_made = self.node(target);
        self.begin_again(node);
        let variable = self.variable(var, &inner);
        let body_made = self.within(&[var], |exporter| exporter.node(body));
        let copies = if is_name {
            (target_made, self.node(target))
        } else {
            (self.build.new_ident(TARGET, &target_type), self.build.new_ident(TARGET, &target_type))
        };
        self.begin_again(node);
        let build = &mut self.build;
        let condition = build.new_call_on(Some(copies.0), HAS_VALUE, &[], "optional_hasValue", &Type::Bool);
        let value = build.new_call_on(Some(copies.1), VALUE, &[], "optional_value", &inner);
        let bind = build.new_id();
        build.set_type(bind, &body_type);
        let name = self.ast.name(var).to_owned();
        let mapped = self.bound(bind, &name, (value, &inner), body_made);
        let build = &mut self.build;
        let then = match flat {
            true => mapped,
            false => build.new_call(OPTIONAL_OF, &[mapped], "optional_of", &result_type),
        };
        let none = build.new_call(OPTIONAL_NONE, &[], "optional_none", &result_type);
        let made = if is_name {
            build.refer_to_overloads(id, &["conditional"]);
            build.call(id, None, CONDITIONAL, &[condition, then, none])
        } else {
            let result = build.new_call(CONDITIONAL, &[condition, then, none], "conditional", &result_type);
            self.bound(id, TARGET, (target_made, &target_type), result)
        };
        let written = if flat { "optFlatMap" } else { "optMap" };
        self.build.expanded(made, Some(target_made), written, &[variable, body_made])
    }
}

/// The parts of `all` and `exists`: initial value, condition, step, result.
fn quantifier(build: &mut Builder, all: bool, predicate: Made) -> (Made, Made, Made, Made) {
    let init = build.new_literal(&Literal::Bool(all));
    let mut undecided = build.accumulator(&Type::Bool);
    if !all {
        undecided = build.new_call(NOT, &[undecided], "logical_not", &Type::Bool);
    }
    let condition = build.new_call(NOT_STRICTLY_FALSE, &[undecided], "not_strictly_false", &Type::Bool);
    let accu = build.accumulator(&Type::Bool);
    let (function, overload) = if all { (AND, "logical_and") } else { (OR, "logical_or") };
    let step = build.new_call(function, &[accu, predicate], overload, &Type::Bool);
    (init, condition, step, build.accumulator(&Type::Bool))
}

/// A step that is taken where the filter is true.
fn only_if(build: &mut Builder, filter: Option<Made>, step: Made, ty: &Type) -> Made {
    let Some(filter) = filter else { return step };
    let accu = build.accumulator(ty);
    build.new_call(CONDITIONAL, &[filter, step, accu], "conditional", ty)
}

/// The types of the variables of a fold.
fn element_types(range: &Type, two: bool) -> (Type, Type) {
    match range {
        Type::List(element) if two => (Type::Int, Type::clone(element)),
        Type::List(element) => (Type::clone(element), Type::Dyn),
        Type::Map(kv) => (kv.0.clone(), kv.1.clone()),
        _ => (Type::Dyn, Type::Dyn),
    }
}
