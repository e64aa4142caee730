//! What the catalogue says of a VM and its disks, once it was asked.

use std::cell::OnceCell;

use iotax_catalog::{Caching, Expectation, Vm};
use iotax_record::machine::Device;

/// A disk of the cloud whose kind is known, by its name in the catalogue.
#[derive(Debug, Clone)]
pub(crate) struct Attached<'a> {
    pub device: &'a Device,
    pub path: &'a str,
    /// `P30`, `gp3:size=500G`.
    pub name: String,
    pub caching: Caching,
}

/// Answers of the catalogue, which reads its tables anew for each question.
#[derive(Debug, Default)]
pub(super) struct Documents<'a> {
    pub(super) vms: OnceCell<Vec<Vm>>,
    pub(super) attached: OnceCell<Vec<Attached<'a>>>,
    pub(super) expectation: OnceCell<Option<Expectation>>,
}
