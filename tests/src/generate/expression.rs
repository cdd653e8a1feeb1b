//! Random expressions of a wanted type. Each is written so that it can stand anywhere: in parentheses unless primary.

use super::literal;
use super::rng::Rng;
use super::types::{self, Bindings};
use super::{Declared, Uses};
use celero_frontend::Type;
use celero_frontend::stdlib::{Builtin, Row, TABLE};

/// Names for macro variables: few, so that they shadow each other.
pub(super) const LOCALS: &[&str] = &["x", "y", "z", "w"];

/// Writes one expression.
pub(super) struct Writer<'g> {
    pub(super) rng: &'g mut Rng,
    pub(super) uses: &'g mut Uses,
    pub(super) variables: &'g [Declared],
    /// Macro variables in scope, innermost last.
    pub(super) locals: Vec<(&'static str, Type)>,
    /// How many nodes with operands may still be written.
    pub(super) budget: usize,
    /// Whether operands may be of any type.
    pub(super) careless: bool,
    /// Writes a condition of the table of idioms.
    pub(super) idiom: fn(&mut Writer<'_>) -> String,
}

impl Writer<'_> {
    /// An expression of a type.
    pub(super) fn expr(&mut self, ty: &Type) -> String {
        if self.budget == 0 {
            return self.leaf(ty);
        }
        self.budget -= 1;
        let other;
        let ty = if self.careless && self.rng.chance(4) {
            other = types::any(self.rng, 1);
            &other
        } else {
            ty
        };
        if self.rng.chance(30)
            && let Some(text) = self.about_variable(ty)
        {
            return text;
        }
        match self.rng.below(100) {
            0..15 => self.leaf(ty),
            15..19 => self.pretend(ty),
            19..24 => self.cond(ty),
            24..28 => self.bind(ty),
            28..32 => self.select(ty),
            32..35 => self.declared_call(ty).unwrap_or_else(|| self.shaped(ty)),
            35..38 => self.fallback(ty),
            38..53 => self.shaped(ty),
            _ => self.call(ty).unwrap_or_else(|| self.shaped(ty)),
        }
    }

    /// A row of the library's table, as the whole expression, that has been used less than others.
    pub(super) fn any_call(&mut self) -> String {
        let mut index = self.uses.rows.rarest(self.rng, 40);
        if !self.uses.wanted.rows.is_empty() && self.rng.chance(85) {
            index = *self.rng.pick(&self.uses.wanted.rows);
        }
        let Some(row) = TABLE.rows().get(index) else { return "true".into() };
        self.uses.rows.add(index);
        let mut bindings = Bindings::new();
        types::complete(self.rng, row, &mut bindings);
        self.row(row, &bindings, None)
    }

    /// What a rare operation or error takes, alone or as part of a condition.
    pub(super) fn idiom(&mut self) -> String {
        let text = (self.idiom)(self);
        match self.rng.below(5) {
            0 => format!("({text} && {})", self.expr(&Type::Bool)),
            1 => format!("({} || {text})", self.expr(&Type::Bool)),
            2 => format!("({text} || {})", (self.idiom)(self)),
            _ => text,
        }
    }

    /// What rules mostly are: logic of conditions, or a quantifier.
    pub(super) fn condition(&mut self) -> String {
        self.shaped(&Type::Bool)
    }

    /// A variable, or a literal of leaves.
    pub(super) fn leaf(&mut self, ty: &Type) -> String {
        if self.rng.chance(75)
            && let Some(name) = self.variable(ty)
        {
            return name;
        }
        if let Some(text) = literal::scalar(self.rng, ty) {
            return primary(text);
        }
        match ty {
            Type::List(element) => {
                let elements: Vec<String> = (0..self.rng.below(3)).map(|_| self.leaf(element)).collect();
                format!("[{}]", elements.join(", "))
            }
            Type::Map(kv) => self.map_of(kv, 2, Self::leaf),
            Type::Optional(_) if self.rng.chance(30) => "optional.none()".into(),
            Type::Optional(inner) => format!("optional.of({})", self.leaf(inner)),
            Type::Type(inner) => literal::type_name(inner).unwrap_or_else(|| "type(dyn(1))".into()),
            _ => {
                let inner = loop {
                    let inner = types::any(self.rng, 1);
                    if !inner.is_dyn() {
                        break inner;
                    }
                };
                format!("dyn({})", self.leaf(&inner))
            }
        }
    }

    /// A variable of the type.
    pub(super) fn variable(&mut self, ty: &Type) -> Option<String> {
        let mut fitting = self.visible();
        fitting.retain(|(_, t)| t == ty);
        (!fitting.is_empty()).then(|| self.rng.pick(&fitting).0.clone())
    }

    /// The variables in scope; those of macros several times, to be picked more often.
    fn visible(&self) -> Vec<(String, Type)> {
        let mut visible: Vec<(String, Type)> = self.variables.iter().map(|v| (v.name.clone(), v.ty.clone())).collect();
        for (at, (name, ty)) in self.locals.iter().enumerate() {
            if self.locals.iter().skip(at + 1).all(|(inner, _)| inner != name) {
                visible.extend(std::iter::repeat_n(((*name).to_owned(), ty.clone()), 4));
            }
        }
        visible
    }

    /// An expression of the type that a variable of another type decides: a call that takes it.
    fn about_variable(&mut self, ty: &Type) -> Option<String> {
        let visible = self.visible();
        if visible.is_empty() {
            return None;
        }
        let wanted: Vec<&(String, Type)> =
            visible.iter().filter(|(name, _)| self.uses.wanted.variables.contains(name)).collect();
        let (name, of) = if wanted.is_empty() || self.rng.chance(75) {
            self.rng.pick(&visible).clone()
        } else {
            Clone::clone(*self.rng.pick(&wanted))
        };
        if of == *ty {
            return Some(name);
        }
        let mut takers: Vec<(&Row, usize, Bindings)> = Vec::new();
        for row in TABLE.rows() {
            for (position, param) in row.params.iter().enumerate() {
                let mut bindings = Bindings::new();
                if types::unify(&row.result, ty, &mut bindings) && types::unify(param, &of, &mut bindings) {
                    types::complete(self.rng, row, &mut bindings);
                    if row.params.iter().all(|p| types::valid(&types::substitute(p, &bindings))) {
                        takers.push((row, position, bindings));
                    }
                }
            }
        }
        takers.retain(|(row, position, _)| !(matches!(row.name, "_?._" | "@sortBy") && *position == 1));
        if takers.is_empty() {
            return None;
        }
        let (row, position, bindings) = self.rng.pick(&takers).clone();
        self.uses.rows.add(row.builtin as usize);
        Some(self.row(row, &bindings, Some((position, name))))
    }

    /// A `dyn` in place of the type, mostly of the type, else the error "no such overload" or a
    /// number on the same line.
    fn pretend(&mut self, ty: &Type) -> String {
        if self.rng.chance(60)
            && let Some(name) = self.variable(&Type::Dyn)
        {
            return name;
        }
        if self.rng.chance(35) {
            return self.document(*ty == Type::Bool);
        }
        let inner = match ty {
            _ if self.rng.chance(60) => ty.clone(),
            Type::Int | Type::Uint | Type::Double => {
                let numbers = [Type::Int, Type::Uint, Type::Double];
                self.rng.pick(&numbers).clone()
            }
            _ => types::any(self.rng, 1),
        };
        format!("dyn({})", self.expr(&inner))
    }

    /// A part of a JSON document, or, for a `bool`, perhaps the question whether it is there.
    pub(super) fn document(&mut self, test: bool) -> String {
        let of = if self.rng.chance(50) { Type::String } else { Type::Bytes };
        let text = match self.variable(&of) {
            Some(name) if self.rng.chance(80) => name,
            _ if self.rng.chance(30) => self.expr(&of),
            _ => literal::argument(self.rng, Builtin::JsonFromString, 0).unwrap_or("'{}'").to_owned(),
        };
        let mut part = match literal::argument(self.rng, Builtin::UnvalidatedJwtPayload, 0) {
            Some(token) if self.rng.chance(15) => format!("unvalidatedJwtPayload({token}).a"),
            _ => format!("json({text})"),
        };
        for _ in 0..self.rng.below(4) {
            let field = *self.rng.pick(literal::FIELDS);
            part += &match self.rng.below(12) {
                0..5 => format!(".{field}"),
                5..7 => format!("[{field:?}]"),
                7..10 => format!("[{}]", self.rng.pick(&["0", "1", "2", "0u", "1.0", "-1", "300"])),
                10 => format!(".?{field}"),
                _ => format!("[?{}]", self.rng.pick(&["0", "1", "'a'"])),
            };
        }
        if test && self.rng.chance(60) {
            return format!("has({part}.{})", self.rng.pick(literal::FIELDS));
        }
        if self.rng.chance(15) {
            return format!("dyn(cel.bind(x, {part}, [x.?a, x.?b]))");
        }
        // An optional is no `dyn`.
        if part.contains('?') { format!("dyn({part})") } else { part }
    }

    fn cond(&mut self, ty: &Type) -> String {
        let condition = self.expr(&Type::Bool);
        let then = self.expr(ty);
        format!("({condition} ? {then} : {})", self.expr(ty))
    }

    fn bind(&mut self, ty: &Type) -> String {
        let inner = if self.rng.chance(40) { ty.clone() } else { types::any(self.rng, 1) };
        let init = self.expr(&inner);
        let name = *self.rng.pick(LOCALS);
        let body = self.within(&[(name, inner)], |w| w.expr(ty));
        if self.rng.chance(40) {
            return format!("{init}.with({name}, {body})");
        }
        format!("cel.bind({name}, {init}, {body})")
    }

    /// `default` or `coalesce`, of operands that are absent, null or an error more often than others.
    fn fallback(&mut self, ty: &Type) -> String {
        let (name, count) = if self.rng.chance(50) { ("default", 2) } else { ("coalesce", 1 + self.rng.below(4)) };
        let operand = |w: &mut Self| match w.rng.below(10) {
            0 => "null".to_owned(),
            1 => "dyn(null)".to_owned(),
            2..6 => w.select(ty),
            _ => w.expr(ty),
        };
        let operands: Vec<String> = (0..count).map(|_| operand(self)).collect();
        let text = format!("{name}({})", operands.join(", "));
        // All null, it is a null, which can stand only where a `dyn` can.
        if operands.iter().all(|operand| operand == "null") { format!("dyn({text})") } else { text }
    }

    /// A selection from a map, or `has(..)` for a `bool`.
    fn select(&mut self, ty: &Type) -> String {
        let field = *self.rng.pick(literal::FIELDS);
        if *ty == Type::Bool && self.rng.chance(60) {
            let optional: Vec<&str> =
                self.variables.iter().filter(|v| v.name.contains('.')).map(|v| v.name.as_str()).collect();
            if !optional.is_empty() && self.rng.chance(40) {
                return format!("has({})", self.rng.pick(&optional));
            }
            let value = types::any(self.rng, 1);
            let mut map = Type::map(Type::String, value);
            if self.rng.chance(15) {
                map = Type::optional(map);
            }
            return format!("has({}.{field})", self.expr(&map));
        }
        let map = match ty {
            Type::Optional(inner) if self.rng.chance(60) => Type::optional(Type::map(Type::String, Type::clone(inner))),
            _ => Type::map(Type::String, ty.clone()),
        };
        format!("{}.{field}", self.expr(&map))
    }

    /// The syntax that only some types have: logic, literals, comprehensions, `optMap`.
    fn shaped(&mut self, ty: &Type) -> String {
        match ty {
            Type::Bool if self.rng.chance(12) => (self.idiom)(self),
            Type::Bool if self.rng.chance(45) => self.logic(),
            Type::Bool => self.quantifier(),
            Type::List(element) if self.rng.chance(40) => {
                let element = Type::clone(element);
                let count = self.rng.below(4);
                let elements: Vec<String> = (0..count).map(|_| self.element(&element)).collect();
                format!("[{}]", elements.join(", "))
            }
            Type::List(element) => self.list_fold(&Type::clone(element)),
            Type::Map(kv) if self.rng.chance(40) => self.map_of(kv, 3, Self::expr),
            Type::Map(kv) => self.map_fold(&kv.0, &kv.1),
            Type::Optional(inner) => self.opt_map(&Type::clone(inner)),
            Type::Type(inner) => format!("type({})", self.expr(&Type::clone(inner))),
            _ => self.leaf(ty),
        }
    }

    fn element(&mut self, ty: &Type) -> String {
        if self.rng.chance(15) { format!("?{}", self.expr(&Type::optional(ty.clone()))) } else { self.expr(ty) }
    }

    /// A map literal. Mostly with distinct keys.
    fn map_of(&mut self, kv: &(Type, Type), most: usize, value: fn(&mut Self, &Type) -> String) -> String {
        let mut keys: Vec<String> = Vec::new();
        let mut entries = Vec::new();
        for _ in 0..self.rng.below(most + 1) {
            let key = if self.rng.chance(85) { primary(literal::key(self.rng, &kv.0)) } else { value(self, &kv.0) };
            if keys.contains(&key) && self.rng.chance(90) {
                continue;
            }
            keys.push(key.clone());
            if self.budget > 0 && self.rng.chance(10) {
                entries.push(format!("?{key}: {}", value(self, &Type::optional(kv.1.clone()))));
            } else {
                entries.push(format!("{key}: {}", value(self, &kv.1)));
            }
        }
        format!("{{{}}}", entries.join(", "))
    }

    fn logic(&mut self) -> String {
        let symbol = if self.rng.chance(50) { " && " } else { " || " };
        let count = 2 + self.rng.below(3);
        let operands: Vec<String> = (0..count).map(|_| self.expr(&Type::Bool)).collect();
        format!("({})", operands.join(symbol))
    }

    fn quantifier(&mut self) -> String {
        let name = *self.rng.pick(&["all", "exists", "exists_one", "existsOne"]);
        let (range, vars) = self.range(None);
        let list = names(&vars);
        let body = self.within(&vars, |w| w.expr(&Type::Bool));
        format!("{range}.{name}({list}, {body})")
    }

    fn list_fold(&mut self, element: &Type) -> String {
        match self.rng.below(4) {
            0 => {
                let range = if types::is_key(element) && self.rng.chance(30) {
                    Type::map(element.clone(), types::any(self.rng, 0))
                } else {
                    Type::list(element.clone())
                };
                let range = self.expr(&range);
                let name = *self.rng.pick(LOCALS);
                let body = self.within(&[(name, element.clone())], |w| w.expr(&Type::Bool));
                format!("{range}.filter({name}, {body})")
            }
            form => {
                let two = form == 3;
                let name = if two { "transformList" } else { "map" };
                let (range, vars) = self.range(Some(two));
                let list = names(&vars);
                let body = self.within(&vars, |w| w.filtered(element));
                format!("{range}.{name}({list}, {body})")
            }
        }
    }

    fn map_fold(&mut self, key: &Type, value: &Type) -> String {
        if self.rng.chance(25) {
            let name = *self.rng.pick(LOCALS);
            let inner = if self.rng.chance(50) { value.clone() } else { types::any(self.rng, 1) };
            let range = self.expr(&Type::map(key.clone(), inner.clone()));
            if inner == *value && self.rng.chance(50) {
                let body = self.within(&[(name, key.clone())], |w| w.expr(&Type::Bool));
                return format!("{range}.filterKeys({name}, {body})");
            }
            let body = self.within(&[(name, inner)], |w| w.expr(value));
            return format!("{range}.mapValues({name}, {body})");
        }
        if self.rng.chance(50) {
            let inner = types::any(self.rng, 1);
            let range = if *key == Type::Int && self.rng.chance(70) {
                Type::list(inner.clone())
            } else {
                Type::map(key.clone(), inner.clone())
            };
            let range = self.expr(&range);
            let vars = self.two(key.clone(), inner);
            let list = names(&vars);
            let body = self.within(&vars, |w| w.filtered(value));
            return format!("{range}.transformMap({list}, {body})");
        }
        let (range, vars) = self.range(Some(true));
        let list = names(&vars);
        let entries = Type::map(key.clone(), value.clone());
        let body = self.within(&vars, |w| {
            if w.rng.chance(60) {
                let filter = if w.rng.chance(30) { format!("{}, ", w.expr(&Type::Bool)) } else { String::new() };
                format!("{filter}{{{}: {}}}", w.expr(key), w.expr(value))
            } else {
                w.filtered(&entries)
            }
        });
        format!("{range}.transformMapEntry({list}, {body})")
    }

    fn opt_map(&mut self, inner: &Type) -> String {
        let from = types::any(self.rng, 1);
        let target = self.expr(&Type::optional(from.clone()));
        let name = *self.rng.pick(LOCALS);
        if self.rng.chance(50) {
            let body = self.within(&[(name, from)], |w| w.expr(inner));
            format!("{target}.optMap({name}, {body})")
        } else {
            let body = self.within(&[(name, from)], |w| w.expr(&Type::optional(inner.clone())));
            format!("{target}.optFlatMap({name}, {body})")
        }
    }

    /// A transform, sometimes with a filter before it.
    pub(super) fn filtered(&mut self, ty: &Type) -> String {
        if self.rng.chance(35) {
            let filter = self.expr(&Type::Bool);
            format!("{filter}, {}", self.expr(ty))
        } else {
            self.expr(ty)
        }
    }

    /// Something to iterate, and the variables with their types.
    fn range(&mut self, two: Option<bool>) -> (String, Vec<(&'static str, Type)>) {
        let two = two.unwrap_or_else(|| self.rng.chance(35));
        let element = types::any(self.rng, 1);
        let key = if self.rng.chance(30) { Some(types::key(self.rng)) } else { None };
        let range = match &key {
            Some(key) => self.expr(&Type::map(key.clone(), element.clone())),
            None => self.expr(&Type::list(element.clone())),
        };
        let vars = match (two, key) {
            (true, key) => self.two(key.unwrap_or(Type::Int), element),
            (false, Some(key)) => vec![(*self.rng.pick(LOCALS), key)],
            (false, None) => vec![(*self.rng.pick(LOCALS), element)],
        };
        (range, vars)
    }

    fn two(&mut self, first: Type, second: Type) -> Vec<(&'static str, Type)> {
        let name = *self.rng.pick(LOCALS);
        let other = *self.rng.pick(&["i", "j"]);
        if self.rng.chance(50) { vec![(name, first), (other, second)] } else { vec![(other, first), (name, second)] }
    }

    pub(super) fn within<R>(&mut self, vars: &[(&'static str, Type)], write: impl FnOnce(&mut Self) -> R) -> R {
        let outside = self.locals.len();
        self.locals.extend_from_slice(vars);
        let result = write(self);
        self.locals.truncate(outside);
        result
    }
}

pub(super) fn names(vars: &[(&'static str, Type)]) -> String {
    vars.iter().map(|(n, _)| *n).collect::<Vec<_>>().join(", ")
}

/// A literal that can be a receiver or operand.
pub(super) fn primary(text: &str) -> String {
    if text.starts_with('-') { format!("({text})") } else { text.to_owned() }
}
