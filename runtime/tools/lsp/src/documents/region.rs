//! Regions: the expressions of a document, each with its place in it.

use crate::documents::document::{Document, Kind};
use celero::Type;
use celero_policy::{Outline, Phase, PolicyExpression};
use celero_tooling::language::Language;
use celero_tooling::rules::file::RulesFile;
use celero_tooling::rules::source::{Format, RuleText};
use std::ops::Range;

/// An expression of a document.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    pub(crate) source: String,
    pub(crate) language: Language,
    pub(crate) scope: ScopeKey,
    place: RegionPlace,
}

/// Which names an expression may mention.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ScopeKey {
    /// Those of the server's environment.
    Environment,
    /// Those of a phase of a policy, or of any phase; and the parameters of a function.
    Policy(Option<Phase>, Vec<(String, Type)>),
}

/// Where the source of a region is.
#[derive(Clone, Debug)]
enum RegionPlace {
    /// All of it at this byte offset.
    At(usize),
    /// In a scalar of YAML.
    Scalar(PolicyExpression, usize),
}

impl Region {
    /// Makes a region whose source is at a byte offset of the document.
    pub(crate) fn at(source: String, language: Language, start: usize) -> Self {
        Self { source, language, scope: ScopeKey::Environment, place: RegionPlace::At(start) }
    }

    /// Makes the region of an expression of a policy whose text starts at a byte offset of the document.
    fn of_policy(expression: PolicyExpression, start: usize) -> Self {
        let language = expression.language;
        let scope = ScopeKey::Policy(expression.phase, expression.parameters.clone());
        Self { source: expression.source.clone(), language, scope, place: RegionPlace::Scalar(expression, start) }
    }

    /// Returns the byte offset in the document of a byte offset in the source.
    pub(crate) fn in_document(&self, at: usize) -> usize {
        match &self.place {
            RegionPlace::At(start) => start.saturating_add(at),
            RegionPlace::Scalar(expression, start) => start.saturating_add(expression.in_file(at)),
        }
    }

    /// Returns the range of bytes in the document of one in the source.
    pub(crate) fn range(&self, range: Range<usize>) -> Range<usize> {
        self.in_document(range.start)..self.in_document(range.end)
    }

    /// Returns the byte offset in the source of a byte offset in the document, if that is in the region or at its end.
    pub(crate) fn in_source(&self, at: usize) -> Option<usize> {
        match &self.place {
            RegionPlace::At(start) => at.checked_sub(*start).filter(|at| *at <= self.source.len()),
            RegionPlace::Scalar(expression, start) => expression.in_source(at.checked_sub(*start)?),
        }
    }
}

/// The regions of a document, and of a policy its outline.
#[derive(Debug, Default)]
pub(crate) struct Regions {
    pub(crate) all: Vec<Region>,
    pub(crate) outline: Option<Outline>,
}

impl Regions {
    /// Returns the regions of a document; none of one that can't be read.
    pub(crate) fn of(document: &Document) -> Self {
        match document.kind() {
            Kind::Rules { text, start } => Self::of_text(document, text, start),
            Kind::Unreadable(_) | Kind::TooLarge | Kind::Other => Self::default(),
        }
    }

    fn of_text(document: &Document, rule_text: RuleText, start: usize) -> Self {
        let RuleText { text, format, language, .. } = rule_text;
        match format {
            Format::Cel => Self { all: vec![Region::at(text, language, start)], outline: None },
            Format::Rules => {
                let rules = RulesFile::parse(document.name(), text, language).map(|file| file.rules);
                let region = |rule: celero_tooling::rules::file::Rule| {
                    Region::at(rule.source, rule.language, start.saturating_add(rule.start))
                };
                Self { all: rules.unwrap_or_default().into_iter().map(region).collect(), outline: None }
            }
            Format::Policy => {
                let Some(mut outline) =
                    Outline::with_loader(&document.name(), &text, document.base(), &document.policies)
                else {
                    return Self::default();
                };
                let expressions = std::mem::take(&mut outline.expressions);
                let all = expressions.into_iter().map(|expression| Region::of_policy(expression, start)).collect();
                Self { all, outline: Some(outline) }
            }
        }
    }

    /// Returns the region at a byte offset of the document, and the offset in its source.
    pub(crate) fn at(&self, offset: usize) -> Option<(&Region, usize)> {
        self.all.iter().find_map(|region| Some((region, region.in_source(offset)?)))
    }
}
