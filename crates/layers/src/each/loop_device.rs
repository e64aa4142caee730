//! The loop device, which turns a file into a block device.

use crate::declaration::prelude::*;

/// A loop device: turns a file into a block device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loop {
    /// Whether the page cache below is bypassed.
    pub direct: bool,
}

impl Declared for Loop {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "loop",
        about: "a loop device; added automatically when a file must become a block device",
        example: "loop(direct=false)",
        takes: &[Form::File, Form::Block],
        gives: Some(Form::Block),
        does: Does::Carries,
        needs: &[
            Need::Root,
            Need::Device { path: "/dev/loop-control", module: "loop" },
            Need::program("losetup", "mount"),
        ],
        parameters: Self::PARAMETERS,
        ..IN_SYSTEM
    }];

    parameters! {
        direct: parameter("direct", Unit::Switch, Some("true"),
            "bypass the page cache of the file below"),
    }
}
