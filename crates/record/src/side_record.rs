//! Experiments that belong to another one, on the same arms: records inside its directory.

use crate::error::Error;
use crate::experiment::ExperimentHead;
use crate::location::Location;
use crate::store::Reader;

/// What was run beside the experiment itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideRecord {
    /// The span written, and the workload until it is steady, before anything is measured.
    Precondition,
    /// Load until burst credits are spent, before anything is measured.
    Drain,
    /// The same load at other depths: do equal arms sit on a cap?
    DepthCheck,
    /// Loads below a cap, which show what it hides.
    BelowCap,
}

impl SideRecord {
    /// All, in the order in which they run.
    pub const ALL: [Self; 4] = [Self::Precondition, Self::Drain, Self::DepthCheck, Self::BelowCap];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Precondition => "precondition",
            Self::Drain => "drain",
            Self::DepthCheck => "depth-check",
            Self::BelowCap => "below-cap",
        }
    }

    /// What it was called in records made before 2026-11-23.
    const fn earlier_name(self) -> Option<&'static str> {
        match self {
            Self::BelowCap => Some("unmask"),
            Self::Precondition | Self::Drain | Self::DepthCheck => None,
        }
    }

    /// Where its record is, or would be, of the experiment in `dir`.
    pub fn directory(self, dir: impl Into<Location>) -> Location {
        dir.into().join(self.name())
    }

    /// Its record, if it was run with the experiment in `dir`.
    ///
    /// # Errors
    /// As [`Reader::open`], but for a record that is not there.
    pub fn open(self, dir: impl Into<Location>) -> Result<Option<Reader<ExperimentHead>>, Error> {
        let dir = dir.into();
        for name in [Some(self.name()), self.earlier_name()].into_iter().flatten() {
            match Reader::open(dir.join(name)) {
                Err(Error::NotARecord { .. }) => {}
                opened => return opened.map(Some),
            }
        }
        Ok(None)
    }
}
