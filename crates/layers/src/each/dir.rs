//! A directory of the user.

use crate::declaration::prelude::*;

/// A directory of the user.
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
        parameters: Self::PARAMETERS,
        ..BASE
    }];

    parameters! {
        path: parameter("path", Unit::Path, None, "the directory"),
    }
}
