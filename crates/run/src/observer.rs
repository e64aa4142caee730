use std::time::Duration;

use iotax_analyze::Standing;
use iotax_experiment::Purpose;
use iotax_record::Trial;

/// Receives the events of a run, such as a progress line.
pub trait Observer {
    /// Something happened. Called between trials, never inside a measured window.
    fn on(&mut self, event: &Event<'_>);
}

/// What happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// A trial is about to start.
    TrialStarts {
        /// Block, from 0.
        block: u32,
        arm: &'a str,
        /// Name of the phase, where there are several.
        phase: Option<&'a str>,
        /// Its place in the block, from 0.
        place: usize,
        trials_in_block: usize,
        /// The unit of its load, as in [`iotax_experiment::Workload::unit`].
        unit: &'static str,
    },
    /// A pass over the span of an arm is about to start: preconditioning.
    PassStarts {
        /// Which, from 0.
        pass: u32,
        /// How many there will be.
        passes: u32,
        arm: &'a str,
        /// Bytes that it writes, where there is room for them.
        bytes: u64,
    },
    /// A round of preconditioning ended.
    RoundEnded,
    /// A trial ended and is written.
    TrialEnded(&'a Trial),
    /// A probe or pause of a search for caps is about to start, which takes this long.
    StepStarts { purpose: Purpose, takes: Duration },
    /// A block ended and its data were analysed.
    Looked(&'a Standing),
}
