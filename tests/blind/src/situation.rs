use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::lab::Lab;
use crate::outcome::{Named, Outcome};

/// Something that is slow, and why.
pub(crate) struct Situation {
    pub name: &'static str,
    /// Names of causes, any of which is right; none of what is healthy.
    pub causes: &'static [&'static str],
    /// Causes that are true of the control, too.
    pub of_both: &'static [&'static str],
    /// Where it can be made.
    pub place: Place,
    pub plant: Plant,
}

/// Makes something healthy, and says what its user would run.
pub(crate) type Make = fn(&mut Lab) -> Result<Complaint>;

/// Makes it, with or without the fault, and says what its user would run.
pub(crate) type MakeEither = fn(&mut Lab, is_faulty: bool) -> Result<Complaint>;

/// What is made.
pub(crate) enum Plant {
    /// A fault, or its healthy control.
    Either(MakeEither),
    /// Nothing but a control.
    Healthy(Make),
}

/// One that can be made on this machine.
pub(crate) const fn here(
    name: &'static str,
    causes: &'static [&'static str],
    plant: MakeEither,
) -> Situation {
    Situation { name, causes, of_both: &[], place: Place::Here, plant: Plant::Either(plant) }
}

/// Something healthy that looks as if it had a fault.
pub(crate) const fn healthy(name: &'static str, make: Make) -> Situation {
    Situation { name, causes: &[], of_both: &[], place: Place::Here, plant: Plant::Healthy(make) }
}

/// Where a situation can be made.
pub(crate) enum Place {
    /// On this machine.
    Here,
    /// In a virtual machine, because many kernels lack its layers.
    Guest(Guest),
}

/// A virtual machine for a situation.
pub(crate) struct Guest {
    /// A bash script that runs there first.
    pub set_up: &'static str,
    /// Programs that it needs, and the packages that have them.
    pub programs: &'static [&'static str],
    pub memory_bytes: u64,
}

/// What a user runs who knows what is slow, but not why.
pub(crate) struct Complaint {
    /// Arguments of iotax, the command first.
    pub args: Vec<String>,
}

impl Complaint {
    /// A load on a path that is slow.
    pub(crate) fn run(workload: &str, target: &str, more: &[&str]) -> Self {
        let own = ["run", workload, target, "--ramp", "1s"];
        Self { args: own.iter().chain(more).map(|word| (*word).to_owned()).collect() }
    }

    /// Two targets, the second of which is slow, or is not.
    pub(crate) fn compare(workload: &str, arms: &[&str], more: &[&str]) -> Self {
        let own = ["compare", "-w", workload, "--no-depth-check"];
        let words = own.iter().chain(arms).chain(more);
        Self { args: words.map(|word| (*word).to_owned()).collect() }
    }

    /// Disks that bring less than they should.
    pub(crate) fn limits(targets: &[&str], more: &[&str]) -> Self {
        let own = ["limits", "--quick", "--no-metadata"];
        let words = own.iter().chain(targets).chain(more);
        Self { args: words.map(|word| (*word).to_owned()).collect() }
    }
}

impl Situation {
    /// Its fault and its healthy control.
    pub(crate) fn examine_both(&self, iotax: &Path, seed: u64) -> [Outcome; 2] {
        [true, false].map(|is_faulty| self.examine_one(iotax, seed, is_faulty))
    }

    pub(crate) fn examine_one(&self, iotax: &Path, seed: u64, is_faulty: bool) -> Outcome {
        let lab = Lab::new(iotax, seed, self.name);
        let outcome = lab.and_then(|mut lab| self.examine(&mut lab, is_faulty));
        outcome.unwrap_or_else(|error| Outcome::Broken(format!("{error:#}")))
    }

    /// Whether there is no fault of it.
    pub(crate) fn is_healthy(&self) -> bool {
        matches!(self.plant, Plant::Healthy(_))
    }

    /// Makes it, measures, and asks for the causes.
    fn examine(&self, lab: &mut Lab, is_faulty: bool) -> Result<Outcome> {
        let complaint = match self.plant {
            Plant::Either(make) => make(lab, is_faulty),
            Plant::Healthy(make) => make(lab),
        };
        let complaint = complaint.context("planting")?;
        let record = lab.path("record");
        let mut args = complaint.args;
        args.extend(["--quiet", "--format", "json", "--out", &record].map(str::to_owned));
        lab.iotax_in_groups(&args).context("measuring")?;
        let said = lab.iotax(&["doctor", "--record", &record, "--format", "json"])?;
        let said: Value = serde_json::from_str(&said)?;
        let diagnoses = said["causes"].as_array().context("the doctor's output has no causes")?;
        let suspects =
            diagnoses.iter().flat_map(|of| of["suspects"].as_array().into_iter().flatten());
        let named = suspects.map(|suspect| Named {
            cause: suspect["cause"].as_str().unwrap_or_default().to_owned(),
            confidence: suspect["confidence"].as_str().unwrap_or_default().to_owned(),
            evidence: suspect["evidence"][0].as_str().unwrap_or_default().to_owned(),
        });
        Ok(Outcome::Named(named.collect()))
    }
}
