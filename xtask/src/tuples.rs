//! Checks that no function takes a tuple: parameters need names.

use anyhow::{Result, bail};
use proc_macro2::{Delimiter, TokenTree};

use crate::code::{crates, is_mark};

/// Lists functions that take a tuple.
pub(crate) fn check() -> Result<()> {
    let mut wrong = Vec::new();
    for (room, files) in crates()? {
        for (file, code) in &files {
            wrong.extend(tuples(code).into_iter().map(|taken| format!("  {room}/{file}: {taken}")));
        }
    }
    if !wrong.is_empty() {
        bail!(
            "these functions take tuples; use a struct or separate parameters:\n{}",
            wrong.join("\n")
        );
    }
    Ok(())
}

/// Functions with a parameter whose type is a tuple: `name(parameter)`.
fn tuples(code: &[TokenTree]) -> Vec<String> {
    let mut found = Vec::new();
    for (nth, token) in code.iter().enumerate() {
        match (token, code.get(nth + 1)) {
            (TokenTree::Ident(word), Some(TokenTree::Ident(name))) if *word == "fn" => {
                if let Some(TokenTree::Group(taken)) = without_generics(&code[nth + 2..]).first() {
                    let taken: Vec<TokenTree> = taken.stream().into_iter().collect();
                    let parameters = split(&taken).into_iter().filter(|it| is_tuple(it));
                    found.extend(parameters.map(|it| format!("{name}({})", written(it))));
                }
            }
            (TokenTree::Group(group), _) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                found.extend(tuples(&inner));
            }
            _ => {}
        }
    }
    found
}

fn written(tokens: &[TokenTree]) -> String {
    tokens.iter().cloned().collect::<proc_macro2::TokenStream>().to_string()
}

/// The tokens after `<..>`, if present.
fn without_generics(tokens: &[TokenTree]) -> &[TokenTree] {
    let mut depth = 0;
    for (nth, token) in tokens.iter().enumerate() {
        depth += turn(&tokens[..nth], token);
        if depth == 0 {
            return if nth == 0 { tokens } else { &tokens[nth + 1..] };
        }
    }
    &[]
}

/// The change in nesting depth of generic arguments at a token.
fn turn(before: &[TokenTree], token: &TokenTree) -> i32 {
    let is_arrow = before.last().is_some_and(|last| is_mark(last, '-'));
    i32::from(is_mark(token, '<')) - i32::from(is_mark(token, '>') && !is_arrow)
}

/// Splits tokens at commas.
fn split(tokens: &[TokenTree]) -> Vec<&[TokenTree]> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for (nth, token) in tokens.iter().enumerate() {
        depth += turn(&tokens[..nth], token);
        if depth == 0 && is_mark(token, ',') {
            parts.push(&tokens[start..nth]);
            start = nth + 1;
        }
    }
    parts.push(&tokens[start..]);
    parts
}

/// Whether the type of `pattern: type` is a tuple of two or more, or a reference to one.
fn is_tuple(parameter: &[TokenTree]) -> bool {
    let Some(colon) = parameter.iter().position(|token| is_mark(token, ':')) else { return false };
    let mut of_type = parameter[colon + 1..].iter().peekable();
    if of_type.next_if(|token| is_mark(token, '&')).is_some() {
        if of_type.next_if(|token| is_mark(token, '\'')).is_some() {
            of_type.next();
        }
        of_type.next_if(|token| matches!(token, TokenTree::Ident(word) if *word == "mut"));
    }
    let Some(TokenTree::Group(group)) = of_type.next() else { return false };
    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
    group.delimiter() == Delimiter::Parenthesis && split(&inner).len() > 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::code;

    #[test]
    fn a_tuple_is_found_behind_references_patterns_and_generics() {
        let found = |text: &str| tuples(&code(text)).len();
        assert_eq!(found("fn f(a: (u8, u8)) {}"), 1);
        assert_eq!(
            found("impl A { fn f(&self, (a, b): &'a mut (u8, Vec<u8>), c: &(u8, u8)) {} }"),
            2
        );
        assert_eq!(found("fn f<F: Fn(u8, u8) -> u8>(f: F, a: (u8, u8)) {}"), 1);
        assert_eq!(
            found("fn f(a: BTreeMap<u8, u8>, (b, c): Pair, d: (), e: (u8)) -> (u8, u8) {}"),
            0
        );
        assert_eq!(found("fn f(a: impl Fn((u8, u8)) -> u8) { |a: (u8, u8)| 1 }"), 0);
        assert_eq!(found("#[cfg(test)] fn f(a: (u8, u8)) {}"), 0);
    }
}
