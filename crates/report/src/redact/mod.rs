//! What leaves the house: the words of an allow-list, and numbers. Everything else in a record or a
//! machine gets a pseudonym, the same for the same word everywhere, so that what belongs together
//! still does. What each pseudonym stands for is in a key, which stays here.
//!
//! | module | decides |
//! |---|---|
//! | `fields` | what each field of the format may say |
//! | `words` | which words are on the list |
//! | `models` | releases and models of which a family is on the list |
//! | `text` | which words a text consists of |

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

/// Puts pseudonyms in the place of all that is not on the allow-list.
#[derive(Debug, Default)]
pub struct Redactor {
    names: Names,
}

impl Redactor {
    /// What each pseudonym given so far stands for.
    pub fn key(&self) -> BTreeMap<String, String> {
        self.names.key()
    }

    /// The head of a record.
    pub fn experiment(&mut self, experiment: &ExperimentHead) -> ExperimentHead {
        self.know(experiment);
        let mut told = experiment.clone();
        // They are for the house that measured, and no part of what can be repeated.
        told.spec = told.spec.with(|spec| {
            spec.fail_if.clear();
            spec.phases.iter_mut().for_each(|phase| phase.requires = None);
        });
        self.clean(&told, "experiment")
    }

    /// A machine as it was seen.
    pub fn machine(&mut self, machine: &Machine) -> Machine {
        self.clean(machine, "machine")
    }

    /// Texts that stand elsewhere as a whole, first: arms are called by their targets, and paths
    /// with blanks in them are one thing where they stand alone.
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

    /// A trial of a record whose head was seen before.
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

    /// A value with each of its strings as its field's rule has it.
    fn clean<T: Stored>(&mut self, value: &T, name: &str) -> T {
        let told = Value::decode(&value.encode()).expect("JSON was written");
        let clean = self.walk(told, "", name);
        T::decode(&clean.encode()).expect("words of the format are kept, others are free")
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

    /// How the value of an option may read depends on the option.
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

    /// A field without a rule is nobody's but its owner's; a test finds it.
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
