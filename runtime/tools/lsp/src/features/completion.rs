//! Completion: names, functions, macros and their variables in expressions; keys and words in policies.

use crate::checks::environment::Checks;
use crate::checks::scope::Scope;
use crate::cursor::context::Cursor;
use crate::cursor::default_language::{default_language, named_in};
use crate::cursor::locals::{locals, type_of};
use crate::cursor::yaml_path::YamlPath;
use crate::documents::document::{Document, Kind};
use crate::documents::region::ScopeKey;
use crate::features::yaml_keys;
use celero::Type;
use celero::filter::Scheme;
use celero::language::{Declarations, FunctionDeclaration, RECEIVER};
use celero_policy::schema::ValueSpec;
use celero_policy::{Outline, Phase};
use celero_tooling::language::{Language, has_comments_before, of_first_line};
use celero_tooling::names::{Callable, callables, filter_doc, macros};
use celero_tooling::rules::file::language_of_head;
use celero_tooling::rules::source::{Format, RuleText};
use lsp_types::{CompletionItem, CompletionItemKind, Documentation, InsertTextFormat};
use std::collections::BTreeMap;

/// An expression before the cursor, and the names that it may mention.
pub(crate) struct Typed {
    pub(crate) before: String,
    pub(crate) language: Language,
    pub(crate) scope: Scope,
}

/// What is typed at a place.
pub(crate) enum AtCursor {
    Expression(Box<Typed>),
    Yaml(YamlPath),
}

/// Returns what is typed at a place of a document, which need not be valid.
pub(crate) fn at_cursor(document: &Document, offset: usize, checks: &dyn Checks) -> Option<AtCursor> {
    let Kind::Rules { text, start } = document.kind() else { return None };
    let RuleText { format, language, .. } = text;
    let before = document.text.get(start..offset)?;
    let expression = |before: &str, language| {
        let scope = Scope::of_key(&ScopeKey::Environment, language, None, checks);
        Some(AtCursor::Expression(Box::new(Typed { before: before.to_owned(), language, scope })))
    };
    match format {
        Format::Cel => {
            // Comments before the rule are no part of it.
            let is_comment = |line: &str| line.trim_start().starts_with('#');
            let has_comments =
                has_comments_before(language) || of_first_line(before).is_ok_and(|named| named.is_some());
            if has_comments && before.rsplit('\n').next().is_some_and(is_comment) {
                return None;
            }
            let lines = before.split_inclusive('\n').filter(|line| !has_comments || !is_comment(line));
            expression(&lines.collect::<String>(), language)
        }
        Format::Rules => {
            let (head, rest) = rule_before(before)?;
            expression(&rest, language_of_head(&head).unwrap_or(language))
        }
        Format::Policy => of_policy(document, before, start, checks),
    }
}

/// Returns the head of the rule that a text ends in, and its expression as far as it is written, without comments.
fn rule_before(before: &str) -> Option<(String, String)> {
    let is_comment = |line: &str| line.trim_start().starts_with('#');
    if before.rsplit('\n').next().is_some_and(is_comment) {
        return None;
    }
    let mut lines: Vec<&str> = Vec::new();
    for line in before.split('\n').rev().filter(|line| !is_comment(line)) {
        if line.is_empty() || line.starts_with([' ', '\t', '\r']) {
            lines.push(line);
            continue;
        }
        let (head, rest) = line.split_once(':')?;
        lines.push(rest);
        lines.reverse();
        return Some((head.to_owned(), lines.join("\n")));
    }
    None
}

fn of_policy(document: &Document, before: &str, start: usize, checks: &dyn Checks) -> Option<AtCursor> {
    let path = YamlPath::at_end(before);
    let is = |wanted: fn(&ValueSpec) -> bool| path.values().into_iter().any(wanted);
    let source = if path.key.is_some() && is(|value| matches!(value, ValueSpec::Expression)) {
        path.before.clone()
    } else if path.key.is_some() && is(|value| matches!(value, ValueSpec::Template)) && path.before.contains("${") {
        let (_, source) = path.before.rsplit_once("${")?;
        if source.contains('}') {
            return None;
        }
        source.to_owned()
    } else {
        return Some(AtCursor::Yaml(path));
    };
    let section = path.parents.first().map(String::as_str).unwrap_or_default();
    let phase = Phase::ALL.into_iter().find(|phase| phase.name() == section);
    let parameters = match path.key.as_deref().map(FunctionDeclaration::parse) {
        Some(Ok(declared)) if section == "functions" => {
            let receiver = declared.receiver.map(|ty| (RECEIVER.to_owned(), ty));
            receiver.into_iter().chain(declared.parameters.into_iter().map(|p| (p.name, p.ty))).collect()
        }
        _ => Vec::new(),
    };
    // The line that is typed may keep the rest from being YAML: the definitions are then those without it.
    let text = document.text.get(start..)?;
    let line = before.rfind('\n').map_or(0, |at| at.saturating_add(1));
    let after = text.get(before.len()..)?.split_once('\n').map_or("", |(_, after)| after);
    let outline = Outline::with_loader(&document.name(), text, document.base(), &document.policies).or_else(|| {
        let without = format!("{}\n{after}", before.get(..line)?);
        Outline::with_loader(&document.name(), &without, document.base(), &document.policies)
    });
    let outline = outline
        .or_else(|| Outline::with_loader(&document.name(), "defaults: {}", document.base(), &document.policies))?;
    let language = language_at(text, before);
    let scope = Scope::of_key(&ScopeKey::Policy(phase, parameters), language, Some(&outline), checks);
    Some(AtCursor::Expression(Box::new(Typed { before: source, language, scope })))
}

/// Returns the language of the rule around a cursor: what the lines of its list entry say, or the file.
fn language_at(text: &str, before: &str) -> Language {
    let after = text.get(before.len()..).unwrap_or_default();
    let is_entry = |line: &&str| line.trim_start().starts_with("- ") || line.starts_with(|c: char| c.is_alphabetic());
    let above = before.rsplit('\n').scan(false, |done, line| {
        let item = (!*done).then_some(line);
        *done |= is_entry(&line);
        item
    });
    let below = after.split('\n').skip(1).take_while(|line| !is_entry(line));
    let own = above.chain(below).find_map(|line| named_in(line.trim_start_matches([' ', '-', '{'])));
    own.or_else(|| default_language(text)).unwrap_or_default()
}

/// Returns what may be written at a place of a document.
pub(crate) fn completion(document: &Document, offset: usize, checks: &dyn Checks) -> Vec<CompletionItem> {
    match at_cursor(document, offset, checks) {
        None => Vec::new(),
        Some(AtCursor::Yaml(path)) => yaml_keys::completion(&path),
        Some(AtCursor::Expression(typed)) => {
            let Typed { before, language, scope } = &*typed;
            let Some(cursor) = Cursor::at_end(before, *language) else { return Vec::new() };
            match &scope.scheme {
                Some(scheme) => of_scheme(&cursor, scheme, *language),
                None if language.is_default() => cel(&cursor, &scope.declarations),
                None => plain(&cursor, &scope.declarations, *language),
            }
        }
    }
}

/// Items by label: the details of a label that comes more than once are put together.
#[derive(Default)]
struct Items(BTreeMap<String, CompletionItem>);

impl Items {
    fn add(&mut self, label: &str, kind: CompletionItemKind, detail: &str, doc: &str) {
        let known = self.0.entry(label.to_owned()).or_insert_with(|| CompletionItem {
            label: label.to_owned(),
            kind: Some(kind),
            documentation: (!doc.is_empty()).then(|| Documentation::String(doc.to_owned())),
            ..CompletionItem::default()
        });
        match &mut known.detail {
            Some(details) if !details.split('\n').any(|line| line == detail) => {
                details.push('\n');
                details.push_str(detail);
            }
            Some(_) => {}
            details => *details = Some(detail.to_owned()),
        }
    }

    fn keywords(&mut self, language: Language) {
        for (word, usage) in language.lexicon().keywords {
            self.add(word, CompletionItemKind::KEYWORD, usage, "");
        }
    }

    fn call(&mut self, label: &str, callable: &Callable<'_>) {
        self.add(label, CompletionItemKind::FUNCTION, &callable.text(), callable.doc);
        if let Some(item) = self.0.get_mut(label) {
            item.insert_text = Some(format!("{label}($0)"));
            item.insert_text_format = Some(InsertTextFormat::SNIPPET);
        }
    }

    fn list(self) -> Vec<CompletionItem> {
        self.0.into_values().collect()
    }
}

fn cel(cursor: &Cursor<'_>, declarations: &Declarations) -> Vec<CompletionItem> {
    let mut items = Items::default();
    let start = cursor.receiver.as_ref().map_or(cursor.partial.start, |receiver| receiver.start);
    let (locals, declarations) = locals(cursor.before.get(..start).unwrap_or_default(), declarations);
    let Some(receiver) = cursor.receiver_text() else {
        for local in &locals {
            items.add(&local.name, CompletionItemKind::VARIABLE, &local.ty.to_string(), "");
        }
        for variable in declarations.variables() {
            items.add(&variable.name, CompletionItemKind::FIELD, &variable.ty.to_string(), "");
        }
        for callable in callables(&declarations).filter(|callable| !callable.signature.receiver) {
            items.call(callable.name, &callable);
        }
        for alias in declarations.definitions().iter().filter(|d| declarations.aliases().any(|a| a == d.name())) {
            items.add(alias.name(), CompletionItemKind::CONSTANT, &alias.signature().result.to_string(), "");
        }
        for form in macros(&declarations).filter(|form| !form.method) {
            items.add(form.name, CompletionItemKind::KEYWORD, form.usage, "");
        }
        items.keywords(Language::cel());
        items.add("cel.bind", CompletionItemKind::KEYWORD, "cel.bind(x, value, expression)", "");
        return items.list();
    };
    let namespace = format!("{}.", receiver.trim());
    for variable in declarations.variables() {
        if let Some(rest) = variable.name.strip_prefix(&namespace) {
            items.add(rest, CompletionItemKind::FIELD, &variable.ty.to_string(), "");
        }
    }
    for callable in callables(&declarations).filter(|callable| !callable.signature.receiver) {
        if let Some(rest) = callable.name.strip_prefix(&namespace) {
            items.call(rest, &callable);
        }
    }
    for definition in declarations.definitions() {
        if let Some(rest) = definition.name().strip_prefix(&namespace)
            && declarations.aliases().any(|alias| alias == definition.name())
        {
            items.add(rest, CompletionItemKind::CONSTANT, &definition.signature().result.to_string(), "");
        }
    }
    let Some(ty) = type_of(receiver, &declarations) else { return items.list() };
    for callable in callables(&declarations).filter(|callable| callable.signature.receiver) {
        if callable.signature.params.first().is_some_and(|param| takes(param, &ty)) {
            items.call(callable.name, &callable);
        }
    }
    for form in macros(&declarations).filter(|form| form.method && form.name != "bind") {
        let fits = match form.name {
            "optMap" | "optFlatMap" => matches!(ty, Type::Optional(_) | Type::Dyn),
            "mapValues" | "filterKeys" => matches!(ty, Type::Map(_) | Type::Dyn),
            "with" => true,
            _ => matches!(ty, Type::List(_) | Type::Map(_) | Type::Dyn),
        };
        if fits {
            items.add(form.name, CompletionItemKind::KEYWORD, form.usage, "");
        }
    }
    items.list()
}

/// Returns whether a parameter takes values of a type, as far as their outermost parts say.
fn takes(param: &Type, ty: &Type) -> bool {
    match (param, ty) {
        (Type::Param(_) | Type::Dyn, _) | (_, Type::Dyn) => true,
        (Type::List(param), Type::List(ty)) | (Type::Optional(param), Type::Optional(ty)) => takes(param, ty),
        (Type::Map(param), Type::Map(ty)) => takes(&param.0, &ty.0) && takes(&param.1, &ty.1),
        (param, ty) => param == ty,
    }
}

/// The variables and keywords of a language of which no more is known.
fn plain(cursor: &Cursor<'_>, declarations: &Declarations, language: Language) -> Vec<CompletionItem> {
    let mut items = Items::default();
    let namespace = cursor.receiver_text().map(|receiver| format!("{}.", receiver.trim())).unwrap_or_default();
    for variable in declarations.variables() {
        if let Some(rest) = variable.name.strip_prefix(&namespace) {
            items.add(rest, CompletionItemKind::FIELD, &variable.ty.to_string(), "");
        }
    }
    if cursor.receiver.is_none() {
        items.keywords(language);
    }
    items.list()
}

fn of_scheme(cursor: &Cursor<'_>, scheme: &Scheme, language: Language) -> Vec<CompletionItem> {
    let mut items = Items::default();
    let namespace = cursor.receiver_text().map(|receiver| format!("{}.", receiver.trim())).unwrap_or_default();
    for field in scheme.fields() {
        if let Some(rest) = field.name.strip_prefix(&namespace) {
            items.add(rest, CompletionItemKind::FIELD, &field.ty.to_string(), "");
        }
    }
    if cursor.receiver.is_none() {
        for function in scheme.functions() {
            items.add(&function.name, CompletionItemKind::FUNCTION, &function.to_string(), filter_doc(function));
        }
        items.keywords(language);
    }
    items.list()
}
