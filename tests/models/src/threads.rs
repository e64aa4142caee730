//! Where threads meet.

#[path = "../../../crates/load/src/engine/gate.rs"]
pub(crate) mod gate;
#[path = "../../../crates/vdisk/src/handoff.rs"]
pub(crate) mod handoff;
#[path = "../../../crates/load/src/engine/stop.rs"]
pub(crate) mod stop;
