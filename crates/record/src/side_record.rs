//! Experiments that belong to another one, on the same arms: records inside its directory.

use iotax_experiment::{Depth, SideRole, Spec};

use crate::earlier;
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

    /// What its phases are there for.
    const fn roles(self) -> &'static [SideRole] {
        match self {
            Self::Precondition => &[SideRole::Fill, SideRole::Rounds],
            Self::Drain => &[SideRole::Drain],
            Self::DepthCheck => &[
                SideRole::Depth(Depth::Half),
                SideRole::Depth(Depth::Same),
                SideRole::Depth(Depth::Double),
            ],
            Self::BelowCap => &[SideRole::OneAtATime, SideRole::BelowCap],
        }
    }

    /// Where its record is, or would be, of the experiment in `dir`.
    pub fn directory(self, dir: impl Into<Location>) -> Location {
        dir.into().join(self.name())
    }

    /// Its record, if it was run with the experiment in `dir`, of which this is the spec.
    ///
    /// # Errors
    /// As [`Reader::open`], but for a record that is not there.
    pub fn open(
        self,
        dir: impl Into<Location>,
        main: &Spec,
    ) -> Result<Option<Reader<ExperimentHead>>, Error> {
        let dir = dir.into();
        for name in [Some(self.name()), self.earlier_name()].into_iter().flatten() {
            match Reader::<ExperimentHead>::open(dir.join(name)) {
                Err(Error::NotARecord { .. }) => {}
                Err(error) => return Err(error),
                Ok(mut reader) => {
                    if reader.head.spec.side_phases.is_empty() {
                        reader.head.spec =
                            earlier::with_side_phases(&reader.head.spec, main, self.roles());
                    }
                    return Ok(Some(reader));
                }
            }
        }
        Ok(None)
    }
}
