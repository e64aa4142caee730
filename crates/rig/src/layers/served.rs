//! In-process layers below layers of the system: another process serves them through FUSE.

use std::ffi::OsString;
use std::path::Path;

use iotax_experiment::{Base, Layer, Stack};
use iotax_layers::{File, Throttle, Vdisk};

use crate::layers::maker::prelude::*;

impl System for Vdisk {
    fn make(&self, _below: Top, context: &mut BuildContext<'_>) -> Result<Top, Error> {
        serve(&self.stack, context)
    }
}

/// Token buckets above a file.
impl System for Throttle {
    fn make(&self, below: Top, context: &mut BuildContext<'_>) -> Result<Top, Error> {
        let size_bytes = std::fs::metadata(&below.path).map(|found| found.len());
        let size_bytes = size_bytes.map_err(Error::cannot("find its size", &below.path))?;
        let base = Layer::File(File { path: Some(below.path), size_bytes, thin: false });
        serve(&Stack { layers: vec![base, Layer::Throttle(self.clone())] }, context)
    }
}

/// `DIRECTORY=STACK`
fn disk(at: &Path, stack: &Stack) -> OsString {
    let mut text = at.as_os_str().to_owned();
    text.push(format!("={stack}"));
    text
}

fn serve(stack: &Stack, context: &mut BuildContext<'_>) -> Result<Top, Error> {
    let at = context.mount_point("disk")?;
    let mut program =
        Program::new(&context.surroundings.program).args(["disk", "serve", "--journalled"]);
    if let Some(Base::File(File { path: Some(path), .. })) = stack.base() {
        program = program.arg("--write-to").arg(path);
    }
    let program = program.arg("--dir").arg(&context.surroundings.work_dir).arg(disk(&at, stack));
    context.serve(program, || mounts::is_mounted(&at))?;
    Ok(Top::file(at.join("disk")))
}
