//! A disk in a file.

use crate::declaration::prelude::*;

/// A file; without a path, an unnamed temporary file in the working directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct File {
    /// Its path.
    pub path: Option<PathBuf>,
    /// Size of the disk.
    pub size_bytes: u64,
    /// Sparse and never filled, so that it can be larger than the file system below.
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
        parameters: Self::PARAMETERS,
        ..BASE
    }];

    parameters! {
        path: parameter("path", Unit::Path, None,
            "the file; by default, an unnamed temporary file"),
        size_bytes: parameter("size", Unit::Size, Some("1G"), "disk size"),
        thin: parameter("thin", Unit::Switch, Some("false"),
            "an unnamed sparse file that is never filled; it can have any size, but reads of \
             unwritten data do not reach the disk"),
    }

    fn validate(&self, arguments: &Arguments<'_>) -> Result<(), Error> {
        let problem = "only an unnamed file can be thin; at a path, iotax uses an existing file as \
                       is, and fills a new one";
        let is_possible = !self.thin || self.path.is_none();
        arguments.demand(is_possible, "thin", problem, "leave out path or thin")?;
        arguments.demand_sectors(self.size_bytes)
    }
}
