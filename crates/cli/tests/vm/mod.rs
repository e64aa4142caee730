//! Guests for the tests of the program.

use std::path::Path;

pub(crate) use iotax_vm::Vm;

/// A guest with a disk of so many bytes; `None`, said loudly, where there is no virtual machine.
pub(crate) fn guest(disk_bytes: u64) -> Option<Vm> {
    let iotax = assert_cmd::cargo::cargo_bin!("iotax");
    Vm::new(iotax, Path::new(env!("CARGO_TARGET_TMPDIR")), disk_bytes)
}
