//! Stack text, `file(size=2G) + aes + aes`, to [`Stack`] and back.
//!
//! ```text
//! stack     = layer { "+" layer }
//! layer     = word [ "(" [ parameter { "," parameter } [","] ] ")" ]
//! parameter = word "=" value
//! value     = word | '"' { any | '\"' | '\\' } '"'
//! word      = anything but spaces and ( ) , = + "
//! ```

mod complete;
pub(crate) mod token;
mod written;

use std::fmt;
use std::iter::Peekable;
use std::ops::Range;
use std::str::FromStr;
use std::vec::IntoIter;

use crate::declaration::info::LayerInfo;
use crate::declaration::{Arguments, Value};
use crate::error::Error;
use crate::error::brief;
use crate::stack::{Layer, Stack};
use crate::units::Unit;
use complete::{Placed, complete};
pub use token::quote as quote_value;
use token::{Token, TokenKind, quote, tokens};
pub use written::{WrittenLayer, written_layers};

impl LayerInfo {
    pub fn example_layer(&self) -> Layer {
        let tokens = tokens(self.example).map(|tokens| tokens.into_iter().peekable());
        let layer = tokens.and_then(|tokens| Parser { text: self.example, tokens }.layer());
        layer.expect("a test parses every example").0
    }
}

impl Stack {
    /// More layers than any real I/O path has.
    pub const MOST_LAYERS: usize = 64;

    /// Reads stack text; errors point at the wrong part.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let tokens = tokens(text)?;
        // Checked first, because fitting layers on each other takes quadratic time.
        let count = 1 + tokens.iter().filter(|token| token.kind == TokenKind::Plus).count();
        if count > Self::MOST_LAYERS {
            return Err(Error::syntax(
                format!("the stack has {count} layers, but the maximum is {}", Self::MOST_LAYERS),
                "remove some layers",
            ));
        }
        Parser { text, tokens: tokens.into_iter().peekable() }.stack()
    }
}

impl FromStr for Stack {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Peekable<IntoIter<Token<'a>>>,
}

impl<'a> Parser<'a> {
    fn stack(&mut self) -> Result<Stack, Error> {
        if self.next_is(&TokenKind::End) {
            let advice = "specify a base and the layers on it, for example file(size=2G) + aes";
            return Err(Error::syntax("the stack is empty", advice));
        }
        let mut layers: Vec<Placed> = Vec::new();
        loop {
            let (layer, span) = self.layer()?;
            check_order(&layers, &layer).map_err(|e| e.at(self.text, span.clone()))?;
            layers.push((layer, span));
            let token = self.take();
            match token.kind {
                TokenKind::Plus => {}
                TokenKind::End => return complete(layers, self.text),
                _ => return Err(self.unexpected(&token, "`+` or the end")),
            }
        }
    }

    fn layer(&mut self) -> Result<(Layer, Range<usize>), Error> {
        let token = self.take();
        let TokenKind::Word(name) = &token.kind else {
            return Err(self.unexpected(&token, "a layer"));
        };
        let declared = Layer::declared(name);
        let (info, read) = declared.map_err(|e| e.at(self.text, token.span.clone()))?;
        let mut arguments = Arguments::new(self.text, info, token.span.clone());
        let mut end = token.span.end;
        if self.next_is(&TokenKind::Open) {
            self.take();
            end = self.parameters(info, &mut arguments)?;
            arguments.ends_at(end);
        }
        Ok((read(&arguments)?, token.span.start..end))
    }

    /// Reads everything after the opening bracket; returns where the closing one ends.
    fn parameters(
        &mut self,
        info: &'static LayerInfo,
        arguments: &mut Arguments<'a>,
    ) -> Result<usize, Error> {
        loop {
            let name = self.take();
            let word = match &name.kind {
                TokenKind::Close => return Ok(name.span.end),
                TokenKind::Word(word) => word,
                _ => return Err(self.unexpected(&name, &parameters_of(info))),
            };
            if arguments.parameter(word).is_err() && !self.next_is(&TokenKind::Equals) {
                let advice = format!("include the parameter name, as in {}", info.example);
                let problem = format!("`{}` is a value without a parameter name", brief(word));
                let error = Error::syntax(problem, advice);
                return Err(error.at(self.text, name.span));
            }
            let parameter = arguments.parameter(word);
            let parameter = parameter.map_err(|e| e.at(self.text, name.span.clone()))?;
            // A switch may be given without a value, like the flags of dm-crypt.
            if parameter.unit == Unit::Switch && !self.next_is(&TokenKind::Equals) {
                arguments.add(parameter, name.span.clone(), "true", name.span)?;
                match self.after_value()? {
                    Some(end) => return Ok(end),
                    None => continue,
                }
            }
            let equals = self.take();
            if equals.kind != TokenKind::Equals {
                let expected = format!("`=` and a value: {word}={}", parameter.unit);
                return Err(self.unexpected(&equals, &expected));
            }
            let value = self.take();
            let TokenKind::Word(value_word) = &value.kind else {
                let expected = format!("a value for {word}: {}", parameter.unit);
                return Err(self.unexpected(&value, &expected));
            };
            arguments.add(parameter, name.span, value_word, value.span.clone())?;
            if let Some(end) = self.after_value()? {
                return Ok(end);
            }
        }
    }

    /// A comma, or the closing bracket and where it ends.
    fn after_value(&mut self) -> Result<Option<usize>, Error> {
        let token = self.take();
        match token.kind {
            TokenKind::Comma => Ok(None),
            TokenKind::Close => Ok(Some(token.span.end)),
            TokenKind::Equals => {
                let problem = "`=` in an unquoted value";
                let advice = "put the value in quotes, as in disk=\"gp3:size=500G\"";
                Err(Error::syntax(problem, advice).at(self.text, token.span))
            }
            _ => Err(self.unexpected(&token, "`,` or `)`")),
        }
    }

    fn take(&mut self) -> Token<'a> {
        let end = self.text.len();
        self.tokens.next().unwrap_or(Token { kind: TokenKind::End, span: end..end })
    }

    fn next_is(&mut self, kind: &TokenKind<'_>) -> bool {
        self.tokens.peek().is_some_and(|token| token.kind == *kind)
    }

    fn unexpected(&self, token: &Token<'_>, expected: &str) -> Error {
        let problem = format!("expected {expected}, found {}", token.kind.describe());
        Error::syntax(problem, "").at(self.text, token.span.clone())
    }
}

fn parameters_of(info: &LayerInfo) -> String {
    let names: Vec<_> = info.parameters.iter().map(|parameter| parameter.name).collect();
    format!("a parameter of {} ({}) or `)`", info.name, names.join(", "))
}

/// A stack has exactly one base, at the bottom.
fn check_order(below: &[Placed], layer: &Layer) -> Result<(), Error> {
    let name = layer.name();
    match (below.first(), layer.is_base()) {
        (None, false) => {
            let base = match layer.info().takes {
                [form, ..] if form.is_network() => "netns: netns",
                _ => "file: file(size=1G)",
            };
            Err(Error::syntax(
                format!("`{name}` needs a base below it"),
                format!("start with a base, such as {base} + {name}"),
            ))
        }
        (Some((base, _)), true) => Err(Error::syntax(
            format!("`{name}` is a second base, on top of `{}`", base.name()),
            "a stack has one base, at the bottom; remove one of them",
        )),
        _ => Ok(()),
    }
}

impl fmt::Display for Layer {
    /// Canonical text: parameters in declaration order, without those that have their default.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.info();
        f.write_str(info.name)?;
        let mut separator = "(";
        for (name, value) in self.values() {
            let parameter = info.parameters.iter().find(|parameter| parameter.name == name);
            let (Some(value), Some(parameter)) = (value, parameter) else { continue };
            let written = value.write(parameter.unit);
            let default = parameter.default.map(|text| Value::read(parameter.unit, text));
            if default
                .is_some_and(|default| default.is_ok_and(|it| it.write(parameter.unit) == written))
            {
                continue;
            }
            if value == Value::Switch(true) {
                write!(f, "{separator}{name}")?;
            } else {
                write!(f, "{separator}{name}={}", quote(&written))?;
            }
            separator = ", ";
        }
        f.write_str(if separator == "(" { "" } else { ")" })
    }
}

impl fmt::Display for Stack {
    /// Canonical text, which [`Stack::parse`] reads back to the same value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, layer) in self.layers.iter().enumerate() {
            if i > 0 {
                f.write_str(" + ")?;
            }
            layer.fmt(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
