use std::sync::Arc;

use iotax_experiment::{Driver, RecordedLoad, Spec, Workload};
use iotax_load::{Fio, Iperf3, LoadDriver, Native, Recording, Replay};

/// The load drivers of the arms.
#[derive(Debug, Clone, Default)]
pub struct Drivers {
    fio: Option<Fio>,
    iperf3: Option<Iperf3>,
    /// Recordings, read once.
    replays: Vec<(RecordedLoad, Arc<Replay>)>,
}

/// This fio for the arms that use fio.
impl From<Fio> for Drivers {
    fn from(fio: Fio) -> Self {
        Self { fio: Some(fio), ..Self::default() }
    }
}

impl Drivers {
    /// The drivers that the arms use.
    ///
    /// # Errors
    /// [`iotax_load::Error::NoProgram`] if an arm uses a program that is not installed.
    pub fn find(spec: &Spec) -> Result<Self, iotax_load::Error> {
        Self::with_recordings(spec, &mut Recording::of)
    }

    /// The same, with the recordings from elsewhere.
    pub(crate) fn with_recordings(
        spec: &Spec,
        open: &mut dyn FnMut(&RecordedLoad) -> Result<Recording, iotax_load::Error>,
    ) -> Result<Self, iotax_load::Error> {
        let mut replays = Vec::new();
        for recorded in recordings(spec) {
            replays.push((recorded.clone(), Arc::new(Replay::of(open(recorded)?))));
        }
        let asked = |driver| spec.arms.iter().any(|arm| arm.driver == driver);
        Ok(Self {
            fio: asked(Driver::Fio).then(Fio::find).transpose()?,
            iperf3: asked(Driver::Iperf3).then(Iperf3::find).transpose()?,
            replays,
        })
    }

    /// The driver that an arm uses for this workload.
    ///
    /// # Errors
    /// As [`Drivers::find`], if that did not see this arm.
    pub(crate) fn of(
        &self,
        driver: Driver,
        workload: &Workload,
    ) -> Result<&dyn LoadDriver, iotax_load::Error> {
        let replays = |recorded: &RecordedLoad| {
            let replay = self.replays.iter().find(|(known, _)| known == recorded);
            replay.map(|(_, replay)| &**replay as &dyn LoadDriver)
        };
        if let Some(replay) = workload.recording().and_then(replays) {
            return Ok(replay);
        }
        let none = |name| iotax_load::Error::NoProgram { name };
        match driver {
            Driver::Native => Ok(&Native),
            Driver::Fio => self.fio.as_ref().map(|fio| fio as _).ok_or(none("fio")),
            Driver::Iperf3 => self.iperf3.as_ref().map(|iperf3| iperf3 as _).ok_or(none("iperf3")),
        }
    }
}

/// The recordings that arms replay, each once.
pub(crate) fn recordings(spec: &Spec) -> Vec<&RecordedLoad> {
    let mut recordings: Vec<&RecordedLoad> = Vec::new();
    for recorded in spec.phases().filter_map(Workload::recording) {
        if !recordings.contains(&recorded) {
            recordings.push(recorded);
        }
    }
    recordings
}

impl Drivers {
    /// Closes what drivers keep open between trials.
    pub(crate) fn release(&self) {
        self.replays.iter().for_each(|(_, replay)| replay.release());
    }
}
