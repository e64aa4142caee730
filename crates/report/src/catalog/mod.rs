//! Answers of the catalog as text. Every table names its sources.

mod check;
mod json;
mod look;
mod plan;
mod sources;

pub use check::catalog_check;
pub use json::catalog_json;
pub use look::{catalog_disks, catalog_vm_list, catalog_vms};
pub use plan::catalog_plan;
