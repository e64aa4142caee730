//! A block device of the user, which is overwritten.

use crate::declaration::prelude::*;

/// A block device of the user, which is overwritten.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dev {
    /// Its device node.
    pub path: PathBuf,
}

/// Lists signatures of file systems and partitions.
const WIPEFS: Need = Need::program_since("wipefs", "util-linux", 2, 33);

impl Declared for Dev {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "dev",
        about: "base: a block device, which is overwritten; requires --destroy",
        example: "dev(path=/dev/sdx)",
        gives: Some(Form::Block),
        needs: &[Need::Root, WIPEFS],
        parameters: Self::PARAMETERS,
        ..BASE
    }];

    parameters! {
        path: parameter("path", Unit::Path, None, "device node; the device must be blank"),
    }
}
