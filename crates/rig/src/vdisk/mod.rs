//! Stacks of this process, opened.

use std::path::Path;
use std::sync::Arc;

use iotax_layers::{Layer, Mem, Stack};
use iotax_vdisk::{MonotonicClock, VirtualDisk};

/// Size of the disk on which layers are tried: a multiple of any block size.
const TRIAL_BYTES: u64 = 1 << 20;

/// Opens a stack as a disk of `owner`. Cloud disks of one owner are on one VM. If the base is a
/// file, it is at `file`, whatever its path in the stack. `seed` determines faults.
pub(crate) fn open(
    stack: &Stack,
    owner: &str,
    file: &Path,
    seed: u64,
) -> Result<VirtualDisk, iotax_vdisk::Error> {
    let mut stack = stack.spelled_out(owner);
    if let Some(Layer::File(base)) = stack.layers.first_mut() {
        base.path = Some(file.to_owned());
    }
    VirtualDisk::open_seeded(&stack.layers, seed, Arc::new(MonotonicClock))
}

/// Checks that the layers above the base can be opened, on a small base in memory.
pub(crate) fn check_layers(stack: &Stack) -> Result<(), iotax_vdisk::Error> {
    // Independent of all open disks.
    let mut stack = stack.spelled_out("check");
    if let Some(base) = stack.layers.first_mut().filter(|layer| layer.is_base()) {
        *base = Layer::Mem(Mem { size_bytes: TRIAL_BYTES });
    }
    open(&stack, "", Path::new(""), 0).map(drop)
}

#[cfg(test)]
mod tests;
