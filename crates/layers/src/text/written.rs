//! Positions of layers in stack text, even if it cannot be read as a whole.

use crate::declaration::info::LayerInfo;

use super::token::{TokenKind, is_quoted, quote, tokens};

pub struct WrittenLayer {
    pub info: &'static LayerInfo,
    /// First byte after its name, or after its opening bracket.
    at: usize,
    has_brackets: bool,
    /// Names before a `=` in its brackets.
    pub given: Vec<String>,
}

impl WrittenLayer {
    /// The text with another parameter for this layer.
    pub fn with(&self, text: &str, name: &str, value: &str) -> String {
        let (before, after) = text.split_at(self.at);
        let value = if is_quoted(value) { value.into() } else { quote(value) };
        if self.has_brackets {
            // There may be a comma before the closing bracket.
            format!("{before}{name}={value}, {after}")
        } else {
            format!("{before}({name}={value}){after}")
        }
    }
}

/// The layers of a text, from bottom to top; none if it is not a stack.
pub fn written_layers(text: &str) -> Vec<WrittenLayer> {
    let Ok(tokens) = tokens(text) else { return Vec::new() };
    let mut found: Vec<WrittenLayer> = Vec::new();
    let (mut depth, mut is_start) = (0_i32, true);
    for (token, next) in tokens.iter().zip(tokens.iter().skip(1)) {
        if let TokenKind::Word(word) = &token.kind
            && depth == 0
            && is_start
            && let Ok(info) = LayerInfo::named(word)
        {
            let has_brackets = next.kind == TokenKind::Open;
            let at = if has_brackets { next.span.end } else { token.span.end };
            found.push(WrittenLayer { info, at, has_brackets, given: Vec::new() });
        }
        if let (TokenKind::Word(word), TokenKind::Equals, 1) = (&token.kind, &next.kind, depth)
            && let Some(layer) = found.last_mut()
        {
            layer.given.push(word.to_string());
        }
        depth +=
            i32::from(token.kind == TokenKind::Open) - i32::from(token.kind == TokenKind::Close);
        is_start = token.kind == TokenKind::Plus;
    }
    found
}
