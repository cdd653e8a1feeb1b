//! Semantic tokens: the colours of the words of expressions, also in YAML.

use crate::cursor::tokens::{Token, TokenKind, tokens};
use crate::documents::document::Document;
use crate::documents::region::{Region, Regions};
use lsp_types::{SemanticToken, SemanticTokenType};

/// The types of tokens, by the number that answers use.
pub(crate) const TYPES: [SemanticTokenType; 6] = [
    SemanticTokenType::KEYWORD,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::STRING,
    SemanticTokenType::NUMBER,
    SemanticTokenType::COMMENT,
];

/// Returns the tokens of a document's expressions, each relative to the one before it.
pub(crate) fn semantic_tokens(document: &Document) -> Vec<SemanticToken> {
    let regions = Regions::of(document).all;
    let mut found: Vec<(usize, usize, u32)> = regions.iter().flat_map(of_region).collect();
    found.sort_unstable();
    let (mut line, mut character, mut encoded) = (0, 0, Vec::new());
    for (start, end, token_type) in found {
        let range = document.lines.range(&document.text, start..end);
        // A token is on one line.
        if range.start.line != range.end.line || range.start == range.end {
            continue;
        }
        let delta_line = range.start.line.saturating_sub(line);
        let before = if delta_line == 0 { character } else { 0 };
        encoded.push(SemanticToken {
            delta_line,
            delta_start: range.start.character.saturating_sub(before),
            length: range.end.character.saturating_sub(range.start.character),
            token_type,
            token_modifiers_bitset: 0,
        });
        (line, character) = (range.start.line, range.start.character);
    }
    encoded
}

fn of_region(region: &Region) -> Vec<(usize, usize, u32)> {
    let lexicon = region.language.lexicon();
    let tokens = tokens(&region.source, region.language);
    let token_type = |(index, token): (usize, &Token)| {
        let is_call = tokens.get(index.saturating_add(1)).is_some_and(|next| next.is('('));
        let number = match token.kind {
            TokenKind::Name if lexicon.is_keyword(token.text(&region.source)) => 0,
            TokenKind::Name if is_call => 1,
            TokenKind::Name => 2,
            TokenKind::Text { .. } => 3,
            TokenKind::Number => 4,
            TokenKind::Comment => 5,
            TokenKind::Symbol(_) => return None,
        };
        let range = region.range(token.range.clone());
        Some((range.start, range.end, number))
    };
    tokens.iter().enumerate().filter_map(token_type).collect()
}
