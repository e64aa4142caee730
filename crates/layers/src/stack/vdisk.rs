//! The base that is itself a stack: a virtual disk of in-process layers, as the system sees it.

use super::Stack;
use crate::declaration::prelude::*;

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
        parameters: Self::PARAMETERS,
        ..BASE
    }];

    parameters! { stack: parameter("stack", Unit::Name, None, "its layers, in quotes"), }
}

impl Field for Stack {
    fn from_argument(arguments: &Arguments<'_>, name: &'static str) -> Result<Self, Error> {
        let stack = Self::parse(&String::from_argument(arguments, name)?).map_err(|error| {
            let advice = "put the stack in quotes; `iotax layers` lists the layers";
            arguments.refuse(name, error.headline(), advice)
        })?;
        let problem = "a virtual disk can contain only in-process layers";
        let advice = "put all other layers on top of vdisk(...)";
        arguments.demand(stack.is_in_process(), name, problem, advice)?;
        Ok(stack)
    }

    fn value(&self) -> Option<Value> {
        Some(Value::Text(self.to_string()))
    }
}
