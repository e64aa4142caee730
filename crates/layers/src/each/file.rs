//! A disk in a file.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::declaration::info::{BASE, Form, LayerInfo, World, parameter};
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;
use crate::units::Unit;

/// A file; without a path iotax's own in the working directory, which vanishes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct File {
    /// Where the bytes live.
    pub path: Option<PathBuf>,
    /// Size of the disk.
    pub size_bytes: u64,
    /// Sparse and never filled, so that it may be larger than the file system below.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub thin: bool,
}

impl Declared for File {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "file",
        about: "base: a disk in a file",
        example: "file(size=2G)",
        world: World::Both,
        gives: Some(Form::File),
        parameters: &[
            parameter("path", Unit::Path, None, "the file; left out: a nameless one that vanishes"),
            parameter("size", Unit::Size, Some("1G"), "size of the disk"),
            parameter(
                "thin",
                Unit::Switch,
                Some("false"),
                "nameless, sparse and never filled: any size, but unwritten data are no device's",
            ),
        ],
        ..BASE
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        let (path, thin) = (arguments.path("path"), arguments.switch("thin")?);
        if thin && path.is_some() {
            let problem =
                "only a nameless file is thin: one with a name is used as it is, or filled";
            return Err(arguments.refuse("thin", problem, "leave out path, or thin"));
        }
        Ok(Self { path, size_bytes: arguments.disk_size()?, thin })
    }

    fn values(&self) -> Values {
        vec![
            ("path", self.path.as_ref().map(|path| path.to_string_lossy().into_owned().into())),
            ("size", Some(self.size_bytes.into())),
            ("thin", Some(self.thin.into())),
        ]
    }
}
