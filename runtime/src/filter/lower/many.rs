//! Conditions and values of many results: `[*]`, `any`, `all`, functions called for each value.

use super::extension::{Flatten, IsPresent, MapValues, Zip};
use super::value::element_type;
use super::{Lower, Lowering, Operand};
use celero_frontend::filter::{AccessStep, FilterExpr, FilterType};
use celero_frontend::{NodeId as TreeId, Type};
use celero_ir::{Catch, Constant, FoldKind, NodeId, Op, Ty};

/// What becomes of each element before it is tested.
#[derive(Clone)]
enum Transform<'t> {
    /// A part of it is taken. Elements without it are left out.
    Part(&'t [AccessStep]),
    /// It is an array or map, whose elements take its place.
    Each,
    /// A function is called with it, and with the other arguments. Elements without a result are left out.
    Call { id: TreeId, function: u32, args: &'t [TreeId] },
}

/// The elements of a value with `[*]`.
struct Elements<'t> {
    range: Operand,
    transforms: Vec<Transform<'t>>,
}

impl<'c> Lowering<'c> {
    /// `any` or `all` of results.
    pub(super) fn quantifier(&mut self, id: TreeId, all: bool, operand: TreeId) -> Lower<NodeId> {
        if self.is_value(operand) {
            let range = self.value(operand)?;
            let fold = self.fold(id, all, &range, &[], &mut |lowering, element| {
                Ok(lowering.unboxed(element, &FilterType::Bool, operand))
            })?;
            return Ok(self.settled(fold, false, id));
        }
        let mut leaves = Vec::new();
        self.leaves(operand, &mut leaves);
        let mut elements = Vec::new();
        for &leaf in &leaves {
            match self.each(leaf) {
                Some(value) => elements.push(self.elements(value)?),
                None => return self.quantified_list(id, all, operand),
            }
        }
        let Some(first) = elements.first() else { return self.quantified_list(id, all, operand) };
        if !elements.iter().all(|other| self.are_alike(first, other)) {
            return self.quantified_list(id, all, operand);
        }
        let (range, transforms) = (first.range.clone(), first.transforms.clone());
        let fold =
            self.fold(id, all, &range, &transforms, &mut |lowering, element| lowering.of_element(operand, &element))?;
        // Nothing is tested where there is nothing.
        Ok(self.settled(fold, all, id))
    }

    /// Whether two values with `[*]` have the same elements, and leave out the same ones.
    fn are_alike(&self, one: &Elements<'c>, other: &Elements<'c>) -> bool {
        let graph = &self.lowered.graph;
        let are_same = |(one, other): (&Transform<'_>, &Transform<'_>)| match (one, other) {
            (Transform::Part(steps), Transform::Part(others)) => steps == others,
            (Transform::Each, Transform::Each) => true,
            // The same call in the tree, or one that is made for each comparison.
            (Transform::Call { id, .. }, Transform::Call { id: other, .. }) => id == other,
            _ => false,
        };
        graph.class(one.range.node) == graph.class(other.range.node)
            && one.transforms.len() == other.transforms.len()
            && one.transforms.iter().zip(&other.transforms).all(are_same)
    }

    /// `any` or `all` of a list of results.
    fn quantified_list(&mut self, id: TreeId, all: bool, operand: TreeId) -> Lower<NodeId> {
        let range = Operand { node: self.results(operand)?, ty: Type::list(Type::Bool) };
        let fold = self.fold(id, all, &range, &[], &mut |lowering, element| {
            Ok(lowering.unboxed(element, &FilterType::Bool, operand))
        })?;
        Ok(self.settled(fold, all, id))
    }

    /// The comparisons and tests of a condition.
    fn leaves(&self, id: TreeId, found: &mut Vec<TreeId>) {
        match self.tree.expr(id) {
            FilterExpr::Not(operand) => self.leaves(*operand, found),
            FilterExpr::Logic { operands, .. } => {
                for &operand in self.tree.children(*operands) {
                    self.leaves(operand, found);
                }
            }
            _ => found.push(id),
        }
    }

    /// The value with `[*]` of a comparison or test.
    fn each(&self, leaf: TreeId) -> Option<TreeId> {
        let (FilterExpr::Compare { value, .. } | FilterExpr::Test(value)) = self.tree.expr(leaf) else { return None };
        self.tree.node(*value).each.then_some(*value)
    }

    /// A condition of many results, for one of the elements. It fails where the element is left out.
    fn of_element(&mut self, id: TreeId, element: &Operand) -> Lower<NodeId> {
        match self.tree.expr(id) {
            FilterExpr::Compare { value, comparison } => self.compare(id, element.clone(), *value, comparison),
            FilterExpr::Test(_) => Ok(self.unboxed(element.clone(), &FilterType::Bool, id)),
            FilterExpr::Not(operand) => {
                let operand = self.of_element(*operand, element)?;
                Ok(self.add(Op::Not, Ty::Bool, &[operand], id))
            }
            FilterExpr::Logic { op, operands } => {
                let operands = self.tree.children(*operands);
                let nodes = operands.iter().map(|&operand| self.of_element(operand, element));
                let nodes: Vec<NodeId> = nodes.collect::<Lower<_>>()?;
                Ok(self.connected(*op, nodes, id))
            }
            _ => Err("a condition that has one result among those that have many".into()),
        }
    }

    /// The elements of a value with `[*]`.
    fn elements(&mut self, id: TreeId) -> Lower<Elements<'c>> {
        let FilterExpr::Access { base, steps } = self.tree.expr(id) else { return Err("no `[*]`".into()) };
        let at = steps.iter().position(|step| *step == AccessStep::Each).ok_or("no `[*]`")?;
        let (before, after) =
            (steps.get(..at).unwrap_or_default(), steps.get(at.saturating_add(1)..).unwrap_or_default());
        let mut elements = match self.tree.expr(*base) {
            FilterExpr::Call { function, args } if before.is_empty() && self.is_mapped(self.tree.children(*args)) => {
                self.results_of_calls(*base, *function, self.tree.children(*args))?
            }
            _ => {
                let whole = self.value(*base)?;
                Elements { range: self.part(whole, before, id)?, transforms: Vec::new() }
            }
        };
        for (number, part) in after.split(|step| *step == AccessStep::Each).enumerate() {
            if number > 0 {
                elements.transforms.push(Transform::Each);
            }
            if !part.is_empty() {
                elements.transforms.push(Transform::Part(part));
            }
        }
        Ok(elements)
    }

    /// Whether a call with these arguments is made for each value of the first.
    pub(super) fn is_mapped(&self, args: &[TreeId]) -> bool {
        args.first().is_some_and(|&first| self.tree.node(first).each)
    }

    /// The results of a call that is made for each value of its first argument.
    fn results_of_calls(&mut self, id: TreeId, function: u32, args: &'c [TreeId]) -> Lower<Elements<'c>> {
        let first = args.first().ok_or("a call without arguments")?;
        let mut elements = self.elements(*first)?;
        if let FilterExpr::Access { base, steps } = self.tree.expr(*first)
            && steps.first() != Some(&AccessStep::Each)
            && !AccessStep::are_of_one_array(steps)
        {
            let whole = self.value(*base)?;
            elements.range = self.or_nothing(elements.range, &whole, *first);
        }
        elements.transforms.push(Transform::Call { id, function, args });
        Ok(elements)
    }

    /// A part of a value, or an empty list where the part is missing. The value itself may be missing.
    fn or_nothing(&mut self, part: Operand, whole: &Operand, at: TreeId) -> Operand {
        let (items, element) = self.items(&part, false, at);
        let whole = self.boxed(whole.node, at);
        let present = self.call(IsPresent, &[whole], at);
        let present = self.add(Op::Unbox(Ty::Bool), Ty::Bool, &[present], at);
        let empty = self.constant(Constant::List([].into()), Ty::Value, at);
        let missing = self.missing(Ty::Value, at);
        let otherwise = self.add(Op::Cond, Ty::Value, &[present, empty, missing], at);
        Operand {
            node: self.add(Op::Coalesce(Catch::Any), Ty::Value, &[items, otherwise], at),
            ty: Type::list(element),
        }
    }

    /// A test of each element: whether any is true, or all are. Elements for which it fails are left out.
    fn fold(
        &mut self,
        id: TreeId,
        all: bool,
        range: &Operand,
        transforms: &[Transform<'c>],
        test: &mut dyn FnMut(&mut Self, Operand) -> Lower<NodeId>,
    ) -> Lower<NodeId> {
        let (items, element) = self.items(range, true, id);
        let level = self.level;
        self.level = level.saturating_add(1);
        let element =
            Operand { node: self.add(Op::Local(level), self.element_representation(items), &[], id), ty: element };
        let body = self.transformed(id, all, element, transforms, test);
        self.level = level;
        let body = body?;
        let body = self.settled(body, all, id);
        let kind = if all { FoldKind::All } else { FoldKind::Exists };
        Ok(self.add(Op::Fold { kind, level, pairs: false, filtered: false }, Ty::Bool, &[items, body], id))
    }

    fn transformed(
        &mut self,
        id: TreeId,
        all: bool,
        mut element: Operand,
        transforms: &[Transform<'c>],
        test: &mut dyn FnMut(&mut Self, Operand) -> Lower<NodeId>,
    ) -> Lower<NodeId> {
        for (number, transform) in transforms.iter().enumerate() {
            if let Transform::Each = transform {
                let rest = transforms.get(number.saturating_add(1)..).unwrap_or_default();
                return self.fold(id, all, &element, rest, test);
            }
            element = self.one(id, element, transform)?;
        }
        test(self, element)
    }

    /// An element after a transform that gives one.
    fn one(&mut self, id: TreeId, element: Operand, transform: &Transform<'c>) -> Lower<Operand> {
        match transform {
            Transform::Part(steps) => self.part(element, steps, id),
            Transform::Each => Err("a list where one value is expected".into()),
            Transform::Call { id, function, args } => {
                // Here, and not before the loop, so that loops in them have levels of their own.
                let mut operands = vec![element];
                for &arg in args.iter().skip(1) {
                    operands.push(self.value(arg)?);
                }
                self.applied(*id, *function, args, operands, true)
            }
        }
    }

    /// The elements of an array, or the values of a map, and their type. The elements of a host's
    /// list are read in place by tests.
    fn items(&mut self, range: &Operand, tests: bool, at: TreeId) -> (NodeId, Type) {
        if self.is_header_map(range.node) {
            return (self.call(MapValues, &[range.node], at), Type::list(Type::Bytes));
        }
        let element = element_type(&range.ty);
        if let Type::Map(_) = range.ty {
            return (self.call(MapValues, &[range.node], at), element);
        }
        if tests
            && let Op::Field(field) = self.lowered.graph.op(range.node)
            && self.fields.get(field as usize).is_some_and(|layout| {
                !layout.optional && layout.elements.as_ref().is_some_and(|elements| elements.ty != Ty::Record)
            })
        {
            return (self.add(Op::Elements(field), Ty::Seq, &[], at), element);
        }
        (self.boxed(range.node, at), element)
    }

    /// The representation of the elements of a range.
    fn element_representation(&self, items: NodeId) -> Ty {
        match self.lowered.graph.op(items) {
            Op::Elements(field) => {
                let layout = self.fields.get(field as usize);
                layout.and_then(|layout| layout.elements.as_ref()).map_or(Ty::Value, |elements| elements.ty)
            }
            _ => Ty::Value,
        }
    }

    /// The list of the results for all elements, in their order; elements that are left out have
    /// none. The results for the elements of an inner `[*]` take the place of one result.
    fn list(
        &mut self,
        id: TreeId,
        range: &Operand,
        transforms: &[Transform<'c>],
        result: &mut dyn FnMut(&mut Self, Operand) -> Lower<NodeId>,
    ) -> Lower<NodeId> {
        let inner = transforms.iter().position(|transform| matches!(transform, Transform::Each));
        let (before, after) = transforms.split_at(inner.unwrap_or(transforms.len()));
        let (items, ty) = self.items(range, false, id);
        let level = self.level;
        self.level = level.saturating_add(1);
        let mut element = Ok(Operand { node: self.add(Op::Local(level), Ty::Value, &[], id), ty });
        for transform in before {
            element = element.and_then(|element| self.one(id, element, transform));
        }
        let result = element.and_then(|element| match after {
            [_, after @ ..] => self.list(id, &element, after, result),
            [] => result(self, element),
        });
        self.level = level;
        let result = result?;
        let result = self.boxed(result, id);
        let fold = |filtered| Op::Fold { kind: FoldKind::Map, level, pairs: false, filtered };
        let list = if before.is_empty() {
            self.add(fold(false), Ty::Value, &[items, result], id)
        } else {
            let present = self.call(IsPresent, &[result], id);
            let present = self.add(Op::Unbox(Ty::Bool), Ty::Bool, &[present], id);
            let present = self.settled(present, false, id);
            self.add(fold(true), Ty::Value, &[items, present, result], id)
        };
        Ok(if inner.is_some() { self.call(Flatten, &[list], id) } else { list })
    }

    /// The results of a call that is made for each value of its first argument, as a list.
    pub(super) fn mapped(&mut self, id: TreeId, function: u32, args: &'c [TreeId]) -> Lower<Operand> {
        let elements = self.results_of_calls(id, function, args)?;
        let node = self.list(id, &elements.range, &elements.transforms, &mut |_, element| Ok(element.node))?;
        Ok(Operand { node, ty: Type::from(&self.tree.node(id).ty) })
    }

    /// The results of a condition that has many, as a list; empty where it has none.
    pub(super) fn results(&mut self, id: TreeId) -> Lower<NodeId> {
        let list = match self.tree.expr(id) {
            FilterExpr::Compare { value, .. } | FilterExpr::Test(value) if self.tree.node(*value).each => {
                let elements = self.elements(*value)?;
                self.list(id, &elements.range, &elements.transforms, &mut |lowering, element| {
                    lowering.of_element(id, &element)
                })?
            }
            FilterExpr::Test(value) => {
                let value = self.value(*value)?;
                self.boxed(value.node, id)
            }
            FilterExpr::Not(operand) => {
                let range = Operand { node: self.results(*operand)?, ty: Type::list(Type::Bool) };
                self.list(id, &range, &[], &mut |lowering, element| {
                    let value = lowering.unboxed(element, &FilterType::Bool, id);
                    Ok(lowering.add(Op::Not, Ty::Bool, &[value], id))
                })?
            }
            FilterExpr::Logic { op, operands } => {
                let operands = self.tree.children(*operands);
                let lists: Vec<NodeId> = operands.iter().map(|&operand| self.results(operand)).collect::<Lower<_>>()?;
                self.call(Zip(*op), &lists, id)
            }
            _ if self.is_value(id) => {
                let value = self.value(id)?;
                self.boxed(value.node, id)
            }
            _ => return Err("a condition that has one result among those that have many".into()),
        };
        let empty = self.constant(Constant::List([].into()), Ty::Value, id);
        Ok(self.add(Op::Coalesce(Catch::Any), Ty::Value, &[list, empty], id))
    }
}
