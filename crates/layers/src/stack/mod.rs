//! A stack and its layers.

mod base;
mod parts;
pub(crate) mod vdisk;

pub use base::Base;
pub use parts::{numbered, numbered_from, resolve_path};

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Does, LayerInfo};
use crate::declaration::{Arguments, Declared as _, Values};
#[allow(clippy::wildcard_imports, reason = "the files that `each_layer` lists")]
use crate::each::*;
use crate::error::Error;

/// Layers from bottom (the base, which holds the bytes) to top (which the load uses).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stack {
    /// Never empty; the first one is a base.
    pub layers: Vec<Layer>,
}

/// Reads a layer from its arguments.
type Read = fn(&Arguments<'_>) -> Result<Layer, Error>;

macro_rules! declare {
    ($($group:ident { $($(#[$serde:meta])? $module:ident::$Layer:ident,)* })*) => {
        /// Part of a stack that can cost time.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "layer", rename_all = "snake_case")]
        pub enum Layer {
            $($($(#[$serde])? $Layer($module::$Layer),)*)*
        }

        /// The names of each layer, and the function that reads it.
        static CATALOG: &[(&[LayerInfo], Read)] = &[
            $($(($module::$Layer::WORDS, |arguments| {
                let layer = $module::$Layer::from_arguments(arguments)?;
                layer.validate(arguments)?;
                Ok(Layer::$Layer(layer))
            }),)*)*
        ];

        impl Layer {
            /// Its declaration.
            pub fn info(&self) -> &'static LayerInfo {
                match self {
                    $($(Self::$Layer(it) => &$module::$Layer::WORDS[it.word()],)*)*
                }
            }

            pub(crate) fn values(&self) -> Values {
                match self {
                    $($(Self::$Layer(it) => it.values(),)*)*
                }
            }
        }
    };
}

each_layer!(declare);

impl Layer {
    /// All layers with their parameters, bases first.
    pub fn catalog() -> impl Iterator<Item = &'static LayerInfo> {
        CATALOG.iter().flat_map(|(words, _)| *words)
    }

    /// The declaration for a name in stack text, and the function that reads such a layer.
    pub(crate) fn declared(name: &str) -> Result<(&'static LayerInfo, Read), Error> {
        let of_word = |(words, read): &'static (&[LayerInfo], Read)| {
            words.iter().find(|info| info.name == name).map(|info| (info, *read))
        };
        CATALOG
            .iter()
            .find_map(of_word)
            .ok_or_else(|| Error::unknown("layer", name, Self::catalog().map(|layer| layer.name)))
    }

    /// Its name in stack text.
    pub fn name(&self) -> &'static str {
        self.info().name
    }

    /// Whether it is a base; a base is at the bottom and cannot be removed.
    pub fn is_base(&self) -> bool {
        self.info().is_base()
    }

    /// Whether it can be removed from a stack.
    pub fn is_optional(&self) -> bool {
        !matches!(self.info().does, Does::Holds | Does::Carries)
    }
}

impl LayerInfo {
    /// The declaration for a name in stack text.
    ///
    /// # Errors
    /// Names the most similar layer if there is none of that name.
    pub fn named(name: &str) -> Result<&'static Self, Error> {
        Layer::declared(name).map(|(info, _)| info)
    }
}
