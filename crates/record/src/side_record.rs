//! Experiments that belong to another one, on the same arms; their records are inside its
//! directory.

use iotax_experiment::{Depth, SideRole, Spec};

use crate::earlier;
use crate::error::Error;
use crate::experiment::ExperimentHead;
use crate::location::Location;
use crate::store::Reader;

/// Kind of experiment that runs beside the main one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideRecord {
    /// Writes the span, then runs the workload until it is steady, before the measurement.
    Precondition,
    /// Loads the target until burst credits are spent, before the measurement.
    Drain,
    /// The same load at other depths, to check whether equal arms share a cap.
    DepthCheck,
    /// Load below a cap, to show what the cap hides.
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

    /// Its name in records made before 2026-11-23.
    const fn earlier_name(self) -> Option<&'static str> {
        match self {
            Self::BelowCap => Some("unmask"),
            Self::Precondition | Self::Drain | Self::DepthCheck => None,
        }
    }

    /// The roles of its phases.
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

    /// Directory of its record inside that of the experiment in `dir`.
    pub fn directory(self, dir: impl Into<Location>) -> Location {
        dir.into().join(self.name())
    }

    /// Its record, if it was run with the experiment in `dir`, which has this spec.
    ///
    /// # Errors
    /// As [`Reader::open`], except that a missing record is not an error.
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
