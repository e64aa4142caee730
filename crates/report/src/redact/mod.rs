//! Anonymises records and machines for sharing. Words on an allow-list and numbers are kept.
//! Everything else is replaced by a pseudonym. The same word always gets the same pseudonym, so
//! that relations remain visible. The key to the pseudonyms is not shared.
//!
//! | module | contains |
//! |---|---|
//! | `fields` | rules for the fields of the format |
//! | `words` | the allow-list of words |
//! | `models` | kernel releases and device models with a known family |
//! | `text` | splitting text into words |

mod fields;
mod grouped;
mod models;
mod text;
mod words;

use std::collections::BTreeMap;

use iotax_experiment::Target;
use iotax_record::{
    BusyOne, Counters, End, EndReason, ExperimentHead, LoadRecord, Machine, Outcome, Stored, Trial,
};
use serde_json::{Map, Value};

use fields::Rule;
use words::{Kind, Names};

/// Replaces everything that is not on the allow-list by pseudonyms.
#[derive(Debug, Default)]
pub struct Redactor {
    names: Names,
}

impl Redactor {
    /// The original text of each pseudonym so far.
    pub fn key(&self) -> BTreeMap<String, String> {
        self.names.key()
    }

    /// Anonymises the head of a record.
    pub fn experiment(&mut self, experiment: &ExperimentHead) -> ExperimentHead {
        self.know(experiment);
        let mut told = experiment.clone();
        // These are only for the owner, and not needed to repeat the measurement.
        told.spec = told.spec.with(|spec| {
            spec.fail_if.clear();
            spec.phases.iter_mut().for_each(|phase| phase.requires = None);
        });
        self.clean(&told, "experiment")
    }

    /// Anonymises a machine.
    pub fn machine(&mut self, machine: &Machine) -> Machine {
        self.clean(machine, "machine")
    }

    /// First registers text that occurs elsewhere as a whole: arms may be named after targets, and
    /// paths may contain blanks.
    fn know(&mut self, experiment: &ExperimentHead) {
        let spec = &experiment.spec;
        for host in experiment.hosts.iter().filter_map(|host| host.environment.host.as_ref()) {
            self.names.always(Kind::Host, host);
        }
        for arm in &spec.arms {
            let target: Target = self.clean(&arm.target, "target");
            self.names.learn(arm.target.to_string(), target.to_string());
            self.names.text(Kind::Arm, &arm.name);
        }
        for job in spec.phases().flat_map(|workload| &workload.jobs) {
            self.names.whole(Kind::Job, &job.name);
        }
    }

    /// Anonymises a trial of a record whose head was processed before.
    pub fn trial(&mut self, mut trial: Trial) -> Trial {
        self.text(Kind::Arm, &mut trial.arm);
        match &mut trial.outcome {
            Outcome::Completed | Outcome::Interrupted => {}
            Outcome::Degraded { reasons } => self.texts(reasons),
            Outcome::Failed { error } => self.text(Kind::Word, error),
        }
        if let Some(load) = &mut trial.load {
            self.load(load);
        }
        if let Some(counters) = &mut trial.counters {
            self.counters(counters);
        }
        trial
    }

    fn load(&mut self, load: &mut LoadRecord) {
        self.text(Kind::Word, &mut load.driver);
        self.texts(&mut load.warnings);
        for busiest in &mut load.busiest {
            if let BusyOne::Thread { name } = &mut busiest.one {
                self.text(Kind::Word, name);
            }
        }
        for job in &mut load.jobs {
            job.name = self.names.whole(Kind::Job, &job.name);
            for engine in [&mut job.engine].into_iter().chain(&mut job.instead_of) {
                self.text(Kind::Word, engine);
            }
            self.texts(&mut job.first_error);
        }
        let of_jobs = load.jobs.iter_mut().flat_map(|job| &mut job.operations);
        for operation in of_jobs.chain(&mut load.operations) {
            self.text(Kind::Word, &mut operation.name);
            self.texts(&mut operation.first_error);
        }
    }

    fn counters(&mut self, counters: &mut Counters) {
        for device in &mut counters.devices {
            device.name = self.names.whole(Kind::Device, &device.name);
            for target in &mut device.targets {
                *target = self.names.whole(Kind::Arm, target);
            }
            device.model = device.model.take().map(|model| models::device(&mut self.names, &model));
        }
        for interface in &mut counters.interfaces {
            interface.name = self.names.whole(Kind::Device, &interface.name);
            for qdisc in &mut interface.qdiscs {
                self.text(Kind::Word, &mut qdisc.kind);
                self.text(Kind::Word, &mut qdisc.place);
            }
        }
        for mount in &mut counters.nfs {
            mount.mount_point = self.names.whole(Kind::Path, &mount.mount_point);
            mount.source = self.names.whole(Kind::Path, &mount.source);
            let granted = &mut mount.granted;
            for word in [&mut granted.vers, &mut granted.sec, &mut granted.xprtsec] {
                self.texts(word);
            }
            for transport in &mut mount.transports {
                self.text(Kind::Word, &mut transport.protocol);
            }
            for operation in &mut mount.operations {
                self.text(Kind::Word, &mut operation.name);
            }
        }
    }

    pub fn end(&mut self, end: &End) -> End {
        let mut end = end.clone();
        for program in end.other_programs.iter_mut().flat_map(|others| &mut others.largest) {
            self.text(Kind::Word, &mut program.name);
        }
        for reason in &mut end.reasons {
            match reason {
                EndReason::Said(text) | EndReason::SearchFailed(text) => {
                    self.text(Kind::Word, text);
                }
                EndReason::ArmSilent { arm, .. } | EndReason::ArmFailed { arm, .. } => {
                    self.text(Kind::Arm, arm);
                }
                EndReason::AllRun
                | EndReason::Resolved { .. }
                | EndReason::NoneKeepsUp
                | EndReason::NoneCompletes
                | EndReason::NotKeptUp
                | EndReason::AllChanged
                | EndReason::OutOfReach { .. }
                | EndReason::LastLook { .. }
                | EndReason::NoNodeStandsOut { .. }
                | EndReason::RulesDecided
                | EndReason::RulesOutOfReach { .. }
                | EndReason::DepthsClear
                | EndReason::TimeUp
                | EndReason::Interrupted
                | EndReason::SpanWritten
                | EndReason::Steady { .. }
                | EndReason::NotSteady { .. }
                | EndReason::Drained
                | EndReason::SearchDecided
                | EndReason::ResultsRead { .. } => {}
            }
        }
        end
    }

    fn text(&mut self, kind: Kind, text: &mut String) {
        *text = self.names.text(kind, text);
    }

    fn texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a mut String>) {
        texts.into_iter().for_each(|text| self.text(Kind::Word, text));
    }

    /// Applies the rules of the fields to all strings in a value.
    fn clean<T: Stored>(&mut self, value: &T, name: &str) -> T {
        let told = Value::decode(&value.encode()).expect("JSON was written");
        let clean = self.walk(told, "", name);
        T::decode(&clean.encode()).expect("words of the format are kept, but others can vary")
    }

    fn walk(&mut self, value: Value, parent: &str, field: &str) -> Value {
        match value {
            Value::String(text) => self.field(fields::rule(parent, field), &text),
            Value::Array(values) => {
                values.into_iter().map(|value| self.walk(value, parent, field)).collect()
            }
            Value::Object(fields) if field == "fio" => self.option_of_fio(fields).into(),
            Value::Object(fields) => {
                let told = fields.into_iter().map(|(key, value)| {
                    let value = self.walk(value, field, &key);
                    (key, value)
                });
                Value::Object(told.collect())
            }
            number => number,
        }
    }

    /// Handles an fio option, whose permitted values depend on its name.
    fn option_of_fio(&mut self, mut option: Map<String, Value>) -> Map<String, Value> {
        let name = option.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        for (key, value) in &mut option {
            if let (true, Value::String(text)) = (key == "value", &*value) {
                *value = self.names.value_of_fio(&name, text).into();
            } else {
                *value = self.walk(value.take(), "fio", key);
            }
        }
        option
    }

    /// A field without a rule is not shared; a test detects it.
    fn field(&mut self, rule: Option<Rule>, text: &str) -> Value {
        let names = &mut self.names;
        Value::String(match rule.unwrap_or(Rule::Always(Kind::Word)) {
            Rule::Format => text.to_owned(),
            Rule::Text(kind) => names.text(kind, text),
            Rule::Whole(kind) => names.whole(kind, text),
            Rule::Always(kind) => names.always(kind, text),
            Rule::Form(form) if form.is_match(text) => text.to_owned(),
            Rule::Form(_) => names.always(Kind::Word, text),
            Rule::Kernel => models::kernel(names, text),
            Rule::Processor => models::processor(names, text),
            Rule::Device => models::device(names, text),
            Rule::Drop => return Value::Null,
        })
    }
}

#[cfg(test)]
mod tests;
