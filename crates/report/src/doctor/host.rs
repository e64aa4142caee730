use iotax_diagnose::Finding;
use iotax_record::{HostRole, Machine};

/// A machine that was looked at, and what is known to hurt on such.
#[derive(Debug)]
pub struct HostFindings {
    /// What it had to do with the measurement, if there was one.
    pub role: HostRole,
    /// What was seen of it.
    pub machine: Machine,
    /// What was found there.
    pub findings: Vec<Finding>,
}
