//! Pseudonyms: the same word always gets the same one.

use std::collections::{BTreeMap, HashMap};

/// What a pseudonym says of what it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Arm,
    Device,
    File,
    Group,
    Host,
    Job,
    Model,
    Path,
    User,
    /// Anything else.
    Word,
    Workload,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Arm => "arm",
            Self::Device => "device",
            Self::File => "file",
            Self::Group => "group",
            Self::Host => "host",
            Self::Job => "job",
            Self::Model => "model",
            Self::Path => "path",
            Self::User => "user",
            Self::Word => "word",
            Self::Workload => "workload",
        }
    }
}

/// Names that identify nobody.
const EVERYBODY: [&str; 5] = ["root", "localhost", "nobody", "127.0.0.1", "::1"];

/// The pseudonyms given so far.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// By the word they stand for.
    given: HashMap<String, String>,
    /// How many there are of a kind.
    counts: HashMap<Kind, usize>,
    /// Whole texts, and how they are told.
    learnt: HashMap<String, String>,
}

impl Names {
    /// What stands for a word, whether or not it is on the list.
    pub(super) fn always(&mut self, kind: Kind, word: &str) -> String {
        if word.is_empty() || EVERYBODY.contains(&word) {
            return word.to_owned();
        }
        if let Some(given) = self.given.get(word) {
            return given.clone();
        }
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        let name = format!("{}-{count}", kind.name());
        self.given.insert(word.to_owned(), name.clone());
        name
    }

    /// From now on this text is told so.
    pub(super) fn learn(&mut self, text: String, told: String) {
        self.learnt.insert(text, told);
    }

    pub(super) fn learnt(&self, text: &str) -> Option<String> {
        self.learnt.get(text).cloned()
    }

    /// What each pseudonym stands for.
    pub(super) fn key(&self) -> BTreeMap<String, String> {
        self.given.iter().map(|(word, name)| (name.clone(), word.clone())).collect()
    }
}
