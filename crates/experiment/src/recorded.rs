//! What a recording cannot obey: it is replayed alone, from its beginning and as it was recorded.

use iotax_layers::{About, Error};

use crate::spec::{Draft, Driver};
use crate::workload::{Job, Pattern, Workload};

impl Workload {
    /// Refuses a change of times and sizes together.
    pub(crate) fn refuse_recorded(&self, key: &'static str) -> Result<(), Error> {
        if !self.is_recorded() {
            return Ok(());
        }
        let problem = "a recording is replayed as it was recorded";
        let advice = format!("leave out {key}; to replay less or more of it, set time");
        Err(Error::impossible(About::Workload, key, problem, &advice))
    }

    pub(crate) fn validate_recorded(&self) -> Result<(), Error> {
        let Some(recording) = self.recording() else { return Ok(()) };
        let refuse = |key, advice: &str| {
            let problem = "a recording is replayed alone and from its beginning";
            Err(Error::impossible(About::Workload, key, problem, advice))
        };
        if self.jobs.len() > 1 || self.index.is_some() {
            return refuse("recording", "remove the other jobs");
        }
        if self.ramp_ns > 0 {
            return refuse("ramp", "leave out the ramp");
        }
        // It could not be said how often it is replayed.
        if recording.length_ns == 0 && self.time_ns != 1 {
            let problem = "a recording without times is always replayed once, as a whole";
            return Err(Error::impossible(About::Workload, "time", problem, "leave out time"));
        }
        Ok(())
    }
}

impl Job {
    /// The job that replays its recording, and nothing else.
    fn as_recorded(&self) -> Self {
        Self {
            engine: self.engine,
            read_percent: self.read_percent,
            pattern: Pattern::Random,
            size_bytes: self.size_bytes,
            advise: false,
            target: self.target.clone(),
            recording: self.recording.clone(),
            ..Self::new(self.name.clone())
        }
    }

    pub(crate) fn validate_recording(&self) -> Result<(), Error> {
        let problem = match (&self.recording, self.engine.replays()) {
            (None, true) => "no recording is given",
            (Some(_), false) => "only this engine replays recordings",
            (Some(_), true) if *self != self.as_recorded() => {
                let advice = "remove the options that change it";
                let problem = "a recording is replayed as it was recorded";
                let subject = About::Job(self.name.clone());
                return Err(Error::impossible(subject, "recording", problem, advice));
            }
            _ => return Ok(()),
        };
        let advice = "give the recording as the workload: iotax run app.iotx DIR";
        Err(Error::impossible(About::Job(self.name.clone()), "engine", problem, advice))
    }
}

impl Draft {
    /// Refuses options of the whole experiment that change how long or how fast a recording is
    /// replayed, and load generators that cannot replay it. The key is that of an experiment file.
    pub fn validate_recordings(&self) -> Result<(), Error> {
        if !self.phases().any(Workload::is_recorded) {
            return Ok(());
        }
        let refuse = |key, problem: &str, advice: &str| {
            Err(Error::impossible(About::Experiment, key, problem, advice))
        };
        if self.side_runs.drain_ns.is_some() {
            let problem = "draining repeats a load for a given time, and a recording has its own \
                           length";
            let advice = "leave out drain, or drain the target in a separate run with another \
                          workload";
            return refuse("drain", problem, advice);
        }
        if self.side_runs.below_cap {
            let problem = "a recording has its own rate, which iotax does not change";
            return refuse("below-cap", problem, "leave out below-cap");
        }
        if self.hold_ns.is_some() {
            let problem = "a recording has its own length";
            let advice = "leave out hold; to compare sustained rates, set a time that is longer \
                          than the recording";
            return refuse("hold", problem, advice);
        }
        let other = self.arms.iter().find(|arm| arm.driver != Driver::Native);
        if let Some(arm) = other {
            let problem = format!("arm `{}`: only iotax's own engine replays recordings", arm.name);
            let advice = "leave out the engine; to replay a recording with fio, write its log with \
                          iotax capture export";
            return refuse("engines", &problem, advice);
        }
        Ok(())
    }
}

/// A workload that replays a recording of three threads.
#[cfg(test)]
pub(crate) fn example() -> Workload {
    let recording = crate::workload::RecordedLoad {
        path: "/r/app.iotx".into(),
        hash: "0123456789abcdef".into(),
        length_ns: 2_000_000_000,
        threads: 3,
        requests: 0,
        waits_for_syncs: false,
        writes: true,
        device_bytes: None,
        allow_loss: false,
        arrivals: crate::workload::Arrivals::default(),
        copies: 1,
        parts: 1,
        uncut: None,
        logs: None,
    };
    let job = Job {
        engine: crate::engine::Engine::Replay,
        pattern: Pattern::Random,
        advise: false,
        recording: Some(recording),
        ..Job::new("replay")
    };
    Workload { time_ns: 2_000_000_000, ..Workload::new("app", vec![job]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Arm, Design, Target};

    fn refused(change: impl FnOnce(&mut Draft)) -> String {
        let arm = Arm::new("a", Target::parse("/mnt/a").unwrap());
        let mut draft = Draft::new(vec![example()], vec![arm], Design::Single);
        assert_eq!(draft.validate(), Ok(()));
        assert_eq!(draft.validate_recordings(), Ok(()));
        change(&mut draft);
        let said = draft.validate().and_then(|()| draft.validate_recordings());
        said.unwrap_err().to_string()
    }

    #[test]
    fn what_a_recording_cannot_obey_is_refused() {
        let set = |text: &'static str| {
            refused(move |draft| {
                draft.phases.iter_mut().for_each(|phase| phase.set(text).unwrap());
            })
        };
        assert!(set("ramp=1s").contains("ramp: a recording is replayed alone"));
        for text in ["threads=4", "depth=2", "rate=100", "direct=true", "bs=8k", "start-delay=1s"] {
            assert!(set(text).contains("replayed as it was recorded"), "{text}: {}", set(text));
        }
        let said = refused(|draft| draft.side_runs.drain_ns = Some(1));
        assert!(said.starts_with("drain: "), "{said}");
        let said = refused(|draft| draft.side_runs.below_cap = true);
        assert!(said.starts_with("below-cap: "), "{said}");
        let said = refused(|draft| draft.hold_ns = Some(1));
        assert!(said.starts_with("hold: "), "{said}");
        let said = refused(|draft| draft.arms[0].driver = Driver::Fio);
        assert!(said.starts_with("engines: arm `a`: only iotax's own engine"), "{said}");
        let said = example().scale(0.5).unwrap_err().to_string();
        assert!(said.starts_with("scale: a recording is replayed as"), "{said}");
        let said = example().set("engine=psync").and_then(|()| example().set("engine=replay"));
        assert!(said.unwrap_err().to_string().contains("`replay` needs a recording"));
    }

    #[test]
    fn a_trial_is_shorter_or_longer_than_its_recording_if_asked() {
        let explained = |time: &str| {
            let mut workload = example();
            workload.set(time).unwrap();
            assert_eq!(workload.validate(), Ok(()));
            workload.explain_times()
        };
        assert!(explained("time=2s").starts_with("every trial: the whole recording, 2s on"));
        assert_eq!(explained("time=1s"), "every trial: the first 1s of the recording (2s)");
        assert!(
            explained("time=5s").starts_with("every trial: the whole recording, 3 times 2s on")
        );
    }

    #[test]
    fn recorded_times_are_rounded() {
        let times = [0, 999, 88_405_632, 3_123_456_789, 30_623_456_789, u64::MAX];
        let rounded = times.map(crate::rounded_ns);
        assert_eq!(rounded[..5], [0, 999, 88_000_000, 3_123_000_000, 31_000_000_000]);
        let times = example().explain_times();
        assert_eq!(
            times,
            "every trial: the whole recording, 2s on a target as fast as the recorded one"
        );
    }

    #[test]
    fn a_recording_that_only_reads_overwrites_nothing() {
        let mut workload = example();
        assert!(workload.writes() && workload.overwrites());
        if let Some(recording) = &mut workload.jobs[0].recording {
            recording.writes = false;
        }
        assert!(workload.writes() && !workload.overwrites(), "it lays out files in a directory");
    }
}
