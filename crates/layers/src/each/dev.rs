//! A block device of the user's, whose content is lost.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::declaration::info::{BASE, Form, LayerInfo, parameter};
use crate::declaration::need::{Need, Version};
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;
use crate::units::Unit;

/// A block device of the user's, whose content is lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dev {
    /// Its node.
    pub path: PathBuf,
}

/// The program that lists signatures.
const WIPEFS: Need = Need::Program {
    name: "wipefs",
    package: "util-linux",
    at_least: Some(Version { argument: "--version", number: (2, 33) }),
};

impl Declared for Dev {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "dev",
        about: "base: a block device, its content lost; only with --destroy",
        example: "dev(path=/dev/sdx)",
        gives: Some(Form::Block),
        needs: &[Need::Root, WIPEFS],
        parameters: &[parameter("path", Unit::Path, None, "its node, without anything on it")],
        ..BASE
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        Ok(Self { path: arguments.required_path("path")? })
    }

    fn values(&self) -> Values {
        vec![("path", Some(self.path.to_string_lossy().into_owned().into()))]
    }
}
