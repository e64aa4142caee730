//! Reads code as tokens, without tests and attributes.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::sources::each_source;

/// The non-test files of each crate: path below `src`, and code.
pub(crate) type Crates = BTreeMap<String, BTreeMap<String, Vec<TokenTree>>>;

/// Reads the crates in `crates`.
pub(crate) fn crates() -> Result<Crates> {
    let mut texts: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    each_source(|path, text| {
        let parts = path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"));
        if let Some((of, file)) = parts {
            texts.entry(of.to_owned()).or_default().insert(file.to_owned(), text.to_owned());
        }
    })?;
    texts.into_iter().map(|(of, files)| Ok((of, without_tests(&files)?))).collect()
}

/// The code of files, without test code and test files.
fn without_tests(files: &BTreeMap<String, String>) -> Result<BTreeMap<String, Vec<TokenTree>>> {
    let mut code = BTreeMap::new();
    let mut of_tests = vec!["tests".to_owned()];
    for (file, text) in files {
        let tokens = text.parse::<TokenStream>().map_err(|error| anyhow!("{file}: {error}"))?;
        code.insert(file.clone(), shipped(tokens, &mut of_tests));
    }
    code.retain(|file, _| {
        let mut names = file.trim_end_matches(".rs").split('/');
        names.all(|name| !of_tests.iter().any(|test| test == name))
    });
    Ok(code)
}

/// Tokens without attributes and test items. Adds the names of test modules to `of_tests`.
fn shipped(tokens: TokenStream, of_tests: &mut Vec<String>) -> Vec<TokenTree> {
    let mut kept = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                tokens.next_if(|next| is_mark(next, '!'));
                let next = tokens.next_if(|next| is_group(next, Delimiter::Bracket));
                match next {
                    Some(attribute) if is_cfg_test(&attribute) => {
                        skip_item(&mut tokens, of_tests);
                    }
                    Some(attribute) => {
                        // The mark distinguishes error messages from other text.
                        kept.extend(
                            message(&attribute)
                                .into_iter()
                                .flat_map(|it| [mark.clone().into(), it]),
                        );
                    }
                    None => {}
                }
            }
            TokenTree::Group(group) => {
                let inner = shipped(group.stream(), of_tests).into_iter().collect();
                kept.push(Group::new(group.delimiter(), inner).into());
            }
            other => kept.push(other),
        }
    }
    kept
}

/// The message in `#[error(..)]`, which is part of the program.
fn message(attribute: &TokenTree) -> Option<TokenTree> {
    let TokenTree::Group(group) = attribute else { return None };
    let mut inner = group.stream().into_iter();
    let is_error = matches!(inner.next(), Some(TokenTree::Ident(name)) if name == "error");
    inner.next().filter(|_| is_error)
}

/// Skips to the end of an item: its braces, or a semicolon.
fn skip_item(tokens: &mut impl Iterator<Item = TokenTree>, of_tests: &mut Vec<String>) {
    let mut is_module = false;
    for token in tokens {
        match token {
            TokenTree::Ident(name) if is_module => {
                is_module = false;
                of_tests.push(name.to_string());
            }
            TokenTree::Ident(word) => is_module = word == "mod",
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                // An inline module has no file.
                return;
            }
            TokenTree::Punct(mark) if mark.as_char() == ';' => return,
            _ => {}
        }
    }
}

fn is_cfg_test(attribute: &TokenTree) -> bool {
    matches!(attribute, TokenTree::Group(group) if group.stream().to_string().replace(' ', "") == "cfg(test)")
}

pub(crate) fn is_mark(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(it) if it.as_char() == mark)
}

pub(crate) fn is_group(token: &TokenTree, delimiter: Delimiter) -> bool {
    matches!(token, TokenTree::Group(it) if it.delimiter() == delimiter)
}

/// The text of a string literal; `None` for numbers, bytes and characters.
pub(crate) fn text_of(token: &TokenTree) -> Option<String> {
    let TokenTree::Literal(literal) = token else { return None };
    let written = literal.to_string();
    if let Some(raw) = written.strip_prefix('r') {
        let quoted = raw.trim_matches('#');
        return Some(quoted.strip_prefix('"')?.strip_suffix('"')?.to_owned());
    }
    let quoted = written.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::new();
    let mut chars = quoted.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('\n')) => while chars.next_if(|c| c.is_whitespace()).is_some() {},
            ('\\', Some('n' | 't' | 'r')) => {
                chars.next();
                text.push(' ');
            }
            ('\\', Some('u')) => {
                // Any character will do.
                while chars.next().is_some_and(|c| c != '}') {}
                text.push('\u{fffd}');
            }
            ('\\', Some(_)) => text.extend(chars.next()),
            _ => text.push(c),
        }
    }
    Some(text)
}

/// The code of one file, as returned by `crates`.
#[cfg(test)]
pub(crate) fn code(text: &str) -> Vec<TokenTree> {
    shipped(text.parse().unwrap(), &mut Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_attributes_are_left_out() {
        let text = "#![forbid(x)] /// A doc.\n fn a() {} #[cfg(test)] mod t { fn b() {} } const C: u8 = 0;";
        let kept: Vec<String> = code(text).iter().map(ToString::to_string).collect();
        assert_eq!(kept.join(" "), "fn a () { } const C : u8 = 0 ;");
    }

    #[test]
    fn files_that_only_tests_have_are_left_out() {
        let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let files = [
            file("lib.rs", "mod a; #[cfg(test)] mod play;"),
            file("a/mod.rs", "#[cfg(test)] mod tests;"),
            file("a/tests.rs", ""),
            file("play.rs", ""),
        ];
        let code = without_tests(&files.into()).unwrap();
        assert_eq!(code.keys().collect::<Vec<_>>(), ["a/mod.rs", "lib.rs"]);
    }

    #[test]
    fn literals_say_what_they_hold() {
        let text = |code: &str| text_of(&code.parse::<TokenStream>().unwrap().into_iter().next()?);
        assert_eq!(text("\"a \\\n   b\\\"c\\u{b5}s\"").unwrap(), "a b\"c\u{fffd}s");
        assert_eq!(text("r#\"a \"b\"\"#").unwrap(), "a \"b\"");
        assert_eq!([text("'a'"), text("b\"a b\""), text("7")], [None, None, None]);
    }
}
