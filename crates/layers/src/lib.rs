//! Stacks of layers, each layer declared once, and the text form of stacks and quantities.
//!
//! `each` has a file for each layer. `declaration` has what their declarations share. [`Stack`] and
//! its text are built on them.
#![forbid(unsafe_code)]

pub mod blame;
mod declaration;
#[macro_use]
mod each;
mod error;
mod stack;
mod text;
pub mod units;

pub use declaration::info::{Does, Form, LayerInfo, Parameter, Submitter, World};
pub use declaration::need::Need;
pub use declaration::shared::Cpus;
pub use each::cloud::{CloudDisk, CloudDisks, CloudOptions, CloudPart, MadeDisks, PartLayer};
pub use each::file_system::FileSystemKind;
pub use each::throttle::Counts;
#[allow(clippy::wildcard_imports, reason = "the files that `each_layer` lists")]
use each::*;
pub use error::{About, Error, FilePlace, brief, cut, similar};
use stack::vdisk;
pub use stack::{Base, Layer, Stack, numbered, numbered_from, resolve_path};
pub use text::{WrittenLayer, quote_value, written_layers};

macro_rules! export {
    ($($group:ident { $($(#[$serde:meta])? $module:ident::$Layer:ident,)* })*) => {
        $($(pub use $module::$Layer;)*)*
    };
}

each_layer!(export);

/// A message with the list of all layers replaced by `ALL`, so that new layers do not change
/// snapshots.
#[cfg(test)]
pub(crate) fn abbreviated(message: impl std::fmt::Display) -> String {
    let names: Vec<_> = Layer::catalog().map(|layer| layer.name).collect();
    message.to_string().replace(&names.join(", "), "ALL")
}

#[cfg(test)]
mod tests;
