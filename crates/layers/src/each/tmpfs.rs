//! A file system in memory.

use crate::declaration::prelude::*;

/// A file system in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tmpfs {
    pub size_bytes: u64,
}

impl Declared for Tmpfs {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "tmpfs",
        about: "base: a file system in memory",
        example: "tmpfs(size=1G)",
        gives: Some(Form::Directory),
        submitter: Submitter::Nobody,
        needs: &[Need::Root, Need::FileSystem { name: "tmpfs" }],
        parameters: Self::PARAMETERS,
        ..BASE
    }];

    parameters! {
        size_bytes: parameter("size", Unit::Size, Some("1G"), "capacity"),
    }

    fn validate(&self, arguments: &Arguments<'_>) -> Result<(), Error> {
        arguments.demand_sectors(self.size_bytes)
    }
}
