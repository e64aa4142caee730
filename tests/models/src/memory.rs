//! What is unsafe and calls nobody.

#[path = "../../../crates/load/src/engine/zero_copy/control.rs"]
mod control;
#[path = "../../../crates/vdisk/src/shared_memory.rs"]
mod shared_memory;
