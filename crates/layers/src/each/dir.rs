//! A directory of the user's.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::declaration::info::{BASE, Form, LayerInfo, parameter};
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;
use crate::units::Unit;

/// A directory of the user's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dir {
    /// Where test files go.
    pub path: PathBuf,
}

impl Declared for Dir {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "dir",
        about: "base: a directory; test files go into a private folder in it",
        example: "dir(path=/mnt/data)",
        gives: Some(Form::Directory),
        parameters: &[parameter("path", Unit::Path, None, "the directory")],
        ..BASE
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        Ok(Self { path: arguments.required_path("path")? })
    }

    fn values(&self) -> Values {
        vec![("path", Some(self.path.to_string_lossy().into_owned().into()))]
    }
}
