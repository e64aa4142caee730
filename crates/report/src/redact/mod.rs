//! Takes out of a record what names machines, people and accounts, and puts words in its place:
//! the same word for the same thing everywhere, so that what belongs together still does.
//!
//! Two kinds of things are found: what has a form of its own (addresses, UUIDs, ids of clouds,
//! names before `:/`), see [`rules`], and words that are known from elsewhere in the record (the
//! host's name, users' names), which are found wherever they occur.

mod rules;

use std::collections::{BTreeSet, HashMap};

use iotax_record::{Experiment, Machine, Trial};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use rules::{Kind, Rule};

/// A name of one letter is too many other things.
const SHORTEST_WORD: usize = 2;
/// Fields of a machine with words of the kernel, of programs or of clouds.
const VOCABULARY: [&str; 29] = [
    "caching",
    "cipher",
    "cloud",
    "cpu_governor",
    "cpu_model",
    "file_system",
    "features",
    "flags",
    "hypervisor",
    "integrity",
    "iotax_version",
    "kernel",
    "kind",
    "maker",
    "number",
    "os",
    "protocol",
    "raid_level",
    "region",
    "scheduler",
    "security_type",
    "taken",
    "tier",
    "transport",
    "vm",
    "used_as",
    "version",
    "write_cache",
    "xts_driver",
];
/// Fields with options of mounts.
const OPTIONS: [&str; 2] = ["options", "super_options"];
/// Names that identify nobody.
const EVERYBODY: [&str; 4] = ["root", "localhost", "nobody", "user"];

/// Replaces what identifies somebody.
#[derive(Debug, Default)]
pub struct Redactor {
    /// Names found in the record, the longest first.
    known: Vec<(Kind, String)>,
    /// Numbers given so far.
    numbers: HashMap<(Kind, String), usize>,
    /// How many of a kind there are.
    counts: HashMap<Kind, usize>,
    /// What arms are called, so that two never become one.
    arms: HashMap<String, String>,
}

impl Redactor {
    /// For the record that `experiment` is the head of.
    pub fn new(experiment: &Experiment) -> Self {
        let head = serde_json::to_value(experiment).unwrap_or_default();
        let mut redactor = Self::knowing(experiment.environment.host.as_deref(), &head);
        for arm in &experiment.spec.arms {
            let name = redactor.text(&arm.name);
            let taken = |name: &str| redactor.arms.values().any(|other| other == name);
            let unique = if taken(&name) {
                let numbers = (2..).map(|n| format!("{name} ({n})"));
                numbers.into_iter().find(|name| !taken(name)).unwrap_or_default()
            } else {
                name
            };
            redactor.arms.insert(arm.name.clone(), unique);
        }
        redactor
    }

    /// For a machine as it was seen.
    pub fn of_machine(machine: &Machine) -> Self {
        let all = serde_json::to_value(machine).unwrap_or_default();
        Self::knowing(machine.environment.host.as_deref(), &all)
    }

    /// For what names this host, and the users and hosts that are named elsewhere in it.
    fn knowing(host: Option<&str>, told: &Value) -> Self {
        let mut known: BTreeSet<(Kind, String)> = BTreeSet::new();
        if let Some(host) = host {
            known.insert((Kind::Host, host.to_owned()));
            known.extend(host.split_once('.').map(|(label, _)| (Kind::Host, label.to_owned())));
        }
        strings(told, &mut |text| {
            known.extend(rules::users(text).map(|name| (Kind::User, name.to_owned())));
            for (user, host) in rules::logins(text) {
                known.insert((Kind::User, user.to_owned()));
                known.insert((Kind::Host, host.to_owned()));
            }
        });
        let mut known: Vec<_> = known
            .into_iter()
            .filter(|(_, word)| {
                word.len() >= SHORTEST_WORD && !EVERYBODY.contains(&word.to_lowercase().as_str())
            })
            .collect();
        known.sort_by_key(|(_, word)| std::cmp::Reverse(word.len()));
        Self { known, ..Self::default() }
    }

    /// A text without what identifies somebody.
    pub fn text(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for rule in rules::specific() {
            text = self.apply(rule, &text);
        }
        for (kind, word) in self.known.clone() {
            text = self.replace_word(kind, &word, &text);
        }
        for rule in rules::general() {
            text = self.apply(rule, &text);
        }
        text
    }

    /// The same for a text that is made of others, most of which are ours: only what has a form of
    /// its own is replaced.
    pub fn made_text(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for rule in rules::specific().chain(rules::general()) {
            text = self.apply(rule, &text);
        }
        text
    }

    /// The head of the record.
    pub fn experiment(&mut self, experiment: &Experiment) -> Experiment {
        let machine = experiment.machine.as_deref();
        let machine = machine.map(|machine| Box::new(self.machine(machine)));
        let without = Experiment { machine: None, ..experiment.clone() };
        let mut clean = Experiment { machine, ..self.all_strings(&without) };
        for (arm, original) in clean.spec.arms.iter_mut().zip(&experiment.spec.arms) {
            arm.name = self.arm(&original.name);
        }
        let host = experiment.environment.host.as_deref();
        for disk in clean.instance.iter_mut().flat_map(|instance| &mut instance.disks) {
            disk.name = None; // Given by its owner.
        }
        clean.environment.host = host.map(|host| self.placeholder(Kind::Host, host));
        clean
    }

    /// A machine as it was seen. Words of the kernel and of clouds stay, whatever a user or a host
    /// is called: rules read them.
    pub fn machine(&mut self, machine: &Machine) -> Machine {
        let json = serde_json::to_value(machine).unwrap_or_default();
        let clean = walk(json, "", &mut |key, text| match key {
            _ if VOCABULARY.contains(&key) => text,
            _ if OPTIONS.contains(&key) => self.options(&text),
            _ => self.text(&text),
        });
        let mut clean: Machine =
            serde_json::from_value(clean).expect("words of the format are kept, others are texts");
        let host = machine.environment.host.as_deref();
        clean.environment.host = host.map(|host| self.placeholder(Kind::Host, host));
        for disk in clean.cloud.iter_mut().flat_map(|cloud| &mut cloud.disks) {
            disk.name = None;
        }
        clean
    }

    /// Options of a mount: their names are words of the kernel, their values may be anybody's.
    fn options(&mut self, text: &str) -> String {
        let clean = text.split(',').map(|option| match option.split_once('=') {
            None => option.to_owned(),
            Some((name, _)) => {
                // Some are secret by their name.
                let clean = self.text(option);
                let value = clean.split_once('=').map_or(clean.as_str(), |(_, value)| value);
                let kept = if value.is_empty() { clean.as_str() } else { value };
                format!("{name}={kept}")
            }
        });
        clean.collect::<Vec<_>>().join(",")
    }

    /// A trial of the record. Its device statistics are dropped: a bundle does not show them.
    pub fn trial(&mut self, mut trial: Trial) -> Trial {
        trial.arm = self.arm(&trial.arm);
        trial.outcome = self.all_strings(&trial.outcome);
        if let Some(load) = &mut trial.load {
            for job in &mut load.jobs {
                job.name = self.text(&job.name);
                job.first_error = job.first_error.take().map(|error| self.text(&error));
            }
            if let Some(index) = &mut load.index {
                index.first_error = index.first_error.take().map(|error| self.text(&error));
            }
        }
        trial
    }

    fn arm(&mut self, name: &str) -> String {
        match self.arms.get(name) {
            Some(known) => known.clone(),
            None => self.text(name),
        }
    }

    /// A value with each of its strings as [`Redactor::text`] makes it. If a word of the format
    /// itself is somebody's name, strings of one plain word are kept, where they name nothing.
    fn all_strings<T: Serialize + DeserializeOwned + Clone>(&mut self, value: &T) -> T {
        let json = serde_json::to_value(value).unwrap_or_default();
        let all = walk(json.clone(), "", &mut |_, text| self.text(&text));
        let mut but_words = |key: &str, text: String| {
            let is_word = text.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            let is_name = matches!(key, "host" | "name" | "primary" | "suite");
            if is_word && !is_name { text } else { self.text(&text) }
        };
        serde_json::from_value(all)
            .or_else(|_| serde_json::from_value(walk(json, "", &mut but_words)))
            .unwrap_or_else(|_| value.clone())
    }

    fn apply(&mut self, rule: &Rule, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        let mut copied = 0;
        let mut from = 0;
        while let Some(found) = rule.find(text, from) {
            clean.push_str(&text[copied..found.start]);
            clean.push_str(&self.placeholder(rule.kind, &text[found.clone()]));
            copied = found.end;
            from = found.end;
        }
        clean.push_str(&text[copied..]);
        clean
    }

    /// Wherever the word is not part of a longer one.
    fn replace_word(&mut self, kind: Kind, word: &str, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        let mut rest = text;
        let part_of_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        while let Some(at) = find_ignoring_case(rest, word) {
            let (before, after) = (&rest[..at], &rest[at + word.len()..]);
            clean.push_str(before);
            if part_of_word(clean.chars().next_back()) || part_of_word(after.chars().next()) {
                clean.push_str(&rest[at..at + word.len()]);
            } else {
                clean.push_str(&self.placeholder(kind, word));
            }
            rest = after;
        }
        clean.push_str(rest);
        clean
    }

    /// What stands for a secret: `host-1`, `ip-2`.
    fn placeholder(&mut self, kind: Kind, secret: &str) -> String {
        if rules::is_placeholder(secret) {
            return secret.to_owned();
        }
        let count = self.counts.entry(kind).or_default();
        let number = self.numbers.entry((kind, secret.to_lowercase())).or_insert_with(|| {
            *count += 1;
            *count
        });
        format!("{}-{number}", kind.word())
    }
}

fn find_ignoring_case(text: &str, word: &str) -> Option<usize> {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    text.windows(word.len()).position(|window| window.eq_ignore_ascii_case(word))
}

fn strings(value: &Value, each: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(values) => values.iter().for_each(|value| strings(value, each)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, each)),
        _ => {}
    }
}

/// A value with each of its strings, which stands under a key, as `each` makes it.
fn walk(value: Value, key: &str, each: &mut dyn FnMut(&str, String) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(each(key, text)),
        Value::Array(values) => values.into_iter().map(|value| walk(value, key, each)).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(key, value)| {
                let value = walk(value, &key, each);
                (key, value)
            });
            fields.collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests;
