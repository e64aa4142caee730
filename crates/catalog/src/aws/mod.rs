//! Amazon Web Services.

pub(crate) mod instances;
pub(crate) mod volumes;
