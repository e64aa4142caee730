//! The base that is a stack itself: a virtual disk of in-process layers, as others see it.

use serde::{Deserialize, Serialize};

use super::Stack;
use crate::declaration::info::{BASE, Form, LayerInfo, Submitter, parameter};
use crate::declaration::need::Need;
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;
use crate::units::Unit;

/// A virtual disk, mounted through FUSE.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Vdisk {
    /// Its in-process layers.
    pub stack: Stack,
}

impl Declared for Vdisk {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "vdisk",
        about: "base: a virtual disk of in-process layers, mounted through FUSE",
        example: "vdisk(stack=\"file(size=1G) + throttle(iops=4000)\")",
        gives: Some(Form::File),
        submitter: Submitter::Process,
        needs: &[Need::Root, Need::FUSE],
        parameters: &[parameter("stack", Unit::Name, None, "its layers, in quotes")],
        ..BASE
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        let text = arguments.required_text("stack")?;
        let stack = Stack::parse(&text).map_err(|error| {
            arguments.refuse(
                "stack",
                error.headline(),
                "write the layers of `iotax layers` in quotes",
            )
        })?;
        if !stack.is_in_process() {
            let problem = "only in-process layers can be in a virtual disk";
            return Err(arguments.refuse("stack", problem, "put the others on top of vdisk(...)"));
        }
        Ok(Self { stack })
    }

    fn values(&self) -> Values {
        vec![("stack", Some(self.stack.to_string().into()))]
    }
}
