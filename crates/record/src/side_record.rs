//! Experiments that belong to another one, on the same arms: records inside its directory.

use crate::error::Error;
use crate::experiment::Experiment;
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
    /// Loads that show what a cap hides.
    Unmask,
}

impl SideRecord {
    /// All, in the order in which they run.
    pub const ALL: [Self; 4] = [Self::Precondition, Self::Drain, Self::DepthCheck, Self::Unmask];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Precondition => "precondition",
            Self::Drain => "drain",
            Self::DepthCheck => "depth-check",
            Self::Unmask => "unmask",
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
    pub fn open(self, dir: impl Into<Location>) -> Result<Option<Reader<Experiment>>, Error> {
        match Reader::open(self.directory(dir)) {
            Ok(reader) => Ok(Some(reader)),
            Err(Error::NotARecord { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
