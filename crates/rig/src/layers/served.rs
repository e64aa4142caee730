//! Layers that a virtual disk of ours does: a process that serves a stack of in-process layers
//! through FUSE.

use std::ffi::OsString;
use std::path::Path;

use iotax_spec::{Layer, Stack, Throttle};

use crate::error::Error;
use crate::layers::{System, Top};
use crate::mounts;
use crate::needs::Need;
use crate::programs::Program;
use crate::workshop::Workshop;

/// A virtual disk as a base.
pub(crate) struct Vdisk {
    pub(crate) stack: Stack,
}

/// Token buckets above a file.
pub(crate) struct Limits {
    pub(crate) throttle: Throttle,
}

impl System for Vdisk {
    fn needs(&self) -> Vec<Need> {
        needs()
    }

    fn make(&self, _below: Top, workshop: &mut Workshop<'_>) -> Result<Top, Error> {
        serve(&self.stack, workshop)
    }
}

impl System for Limits {
    fn needs(&self) -> Vec<Need> {
        needs()
    }

    fn make(&self, below: Top, workshop: &mut Workshop<'_>) -> Result<Top, Error> {
        let size_bytes = std::fs::metadata(&below.path).map(|found| found.len());
        let size_bytes = size_bytes.map_err(|source| Error::Make {
            path: below.path.clone(),
            action: "measure it",
            source,
        })?;
        let base = Layer::File { path: Some(below.path), size_bytes, thin: false };
        serve(&Stack { layers: vec![base, Layer::Throttle(self.throttle.clone())] }, workshop)
    }
}

fn needs() -> Vec<Need> {
    vec![Need::Root, Need::Device { path: "/dev/fuse", module: "fuse" }]
}

/// `DIRECTORY=STACK`
fn disk(at: &Path, stack: &Stack) -> OsString {
    let mut text = at.as_os_str().to_owned();
    text.push(format!("={stack}"));
    text
}

fn serve(stack: &Stack, workshop: &mut Workshop<'_>) -> Result<Top, Error> {
    let at = workshop.mount_point("disk")?;
    let mut program =
        Program::new(&workshop.surroundings.program).args(["disk", "serve", "--journalled"]);
    if let Some(Layer::File { path: Some(path), .. }) = stack.layers.first() {
        program = program.arg("--write-to").arg(path);
    }
    let program = program.arg("--dir").arg(&workshop.surroundings.work_dir).arg(disk(&at, stack));
    workshop.serve(program, || mounts::is_mounted(&at))?;
    Ok(Top::file(at.join("disk")))
}
