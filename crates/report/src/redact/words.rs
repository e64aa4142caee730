//! The allow-list of words: `words.txt`, and the names in fio, the catalog of limits, layers and
//! workloads.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use iotax_catalog::{Cloud, disk_names, vm_names};
use iotax_dialects::fio::options::{self, ValueKind};
use iotax_experiment::{Files, Layer, LayerInfo, Workload, override_options};
use regex::Regex;

/// Maximum number of parts of a compound such as `read-ahead`; more could be a sentence.
const MOST_PARTS: usize = 4;

static WORDS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let lines = include_str!("words.txt").lines().filter(|line| !line.starts_with('#'));
    let mut words: Vec<String> = lines.flat_map(str::split_whitespace).map(str::to_owned).collect();
    words.extend(words_of_fio().map(str::to_owned));
    words.extend(
        Cloud::ALL.into_iter().flat_map(|cloud| [vm_names(cloud), disk_names(cloud)]).flatten(),
    );
    words.extend(words_of_layers().map(str::to_owned));
    words.extend(workloads().flat_map(names_of));
    words.extend(Workload::suite_names().map(str::to_owned));
    words.iter().map(|word| word.to_lowercase()).collect()
});

/// Sentences about iotax's workloads. Text changed by a user no longer matches.
static SENTENCES: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let sentences =
        workloads().flat_map(|workload| std::iter::once(workload.about).chain(workload.notes));
    sentences.collect()
});

fn workloads() -> impl Iterator<Item = Workload> {
    let suites = Workload::suite_names().filter_map(|name| Workload::suite(name).ok()).flatten();
    Workload::presets().chain([Workload::peel_search(1 << 30)]).chain(suites)
}

fn names_of(workload: Workload) -> Vec<String> {
    let mut names = vec![workload.name];
    for job in workload.jobs {
        names.push(job.name);
        if let Files::Shared(file) = job.files {
            names.push(file);
        }
    }
    names
}

/// Options and their keywords.
fn words_of_fio() -> impl Iterator<Item = &'static str> {
    let of_option = |option: &'static options::OptionInfo| {
        let choices = match option.kind {
            ValueKind::Choice(choices) => choices,
            _ => &[],
        };
        choices.iter().chain(&option.engines).copied().chain(option.names())
    };
    options::every().flat_map(of_option)
}

/// Layers, their parameters, and job parameters.
fn words_of_layers() -> impl Iterator<Item = &'static str> {
    let parameters = |layer: &'static LayerInfo| layer.parameters.iter().map(|one| one.name);
    let layers = Layer::catalog();
    let keys = override_options().map(|(_, key, ..)| key);
    layers.flat_map(move |layer| parameters(layer).chain([layer.name])).chain(keys)
}

/// Whether an fio option accepts any text, as far as known.
pub(super) fn takes_text(option: &str) -> bool {
    let known = options::option_named(option);
    known.is_none_or(|known| matches!(known.kind, ValueKind::Text | ValueKind::OptionalText))
}

/// Whether a word is kept.
pub(super) fn may_leave(word: &str) -> bool {
    is_name(word) || is_number(word) || is_pair(word)
}

/// Whether a word is on the list or a compound of listed words. Numbers are not.
pub(super) fn is_name(word: &str) -> bool {
    let is_listed = |word: &str| WORDS.contains(&word.to_lowercase());
    let is_made_of_listed = |word: &str| {
        let all = || word.split(['-', '_']);
        all().count() <= MOST_PARTS && all().all(|part| part.len() > 1 && is_listed(part))
    };
    let mut parts = word.split(':');
    let is_of_list = parts.all(|part| is_listed(part) || is_made_of_listed(part));
    is_of_list || KERNELS_NAMES.is_match(word)
}

/// Whether a text is a sentence of iotax.
pub(super) fn is_sentence(text: &str) -> bool {
    SENTENCES.contains(text)
}

/// Kernel names of devices and network interfaces.
static KERNELS_NAMES: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?:sd|vd|hd|xvd)[a-z]{1,2}\d{0,3}|nvme\d{1,3}(?:c\d{1,3})?(?:n\d{1,3}(?:p\d{1,3})?)?|
          (?:dm-|loop|md|ram|zram|nbd|sr|pmem|drbd|bcache|mmcblk)\d{1,3}(?:p\d{1,3})?|
          (?:eth|ens|eno|wlan|bond|wg|ib|tun|tap|br)\d{1,4}|enp\d{1,3}s\d{1,3}|lo",
    )
});

/// Numbers that are too short to identify anybody, and longer ones with a unit.
fn is_number(word: &str) -> bool {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"[+−]?\d{1,4}(?:\.\d{1,4})?|
              [+−]?\d{1,6}(?:\.\d{1,4})?(?:(?:[kKMGTP]i?)?[Bb](?:/s)?|[kKMGTP]|ns|us|µs|ms|s|min|h|%|x|IOPS|[kMG]?Hz)",
        )
    });
    NUMBER.is_match(word)
}

/// Numbers of any length, in fields that only allow numbers.
pub(super) fn is_long_number(word: &str) -> bool {
    static NUMBER: LazyLock<Regex> =
        LazyLock::new(|| regex(r"-?\d{1,20}(?:\.\d{1,9})?[a-zA-Z]{0,3}%?"));
    NUMBER.is_match(word)
}

/// `8:16` is a device, `journal_sectors:163840` and `28:aead` are of dm-integrity.
fn is_pair(word: &str) -> bool {
    static PAIR: LazyLock<Regex> = LazyLock::new(|| regex(r"\d{1,4}:\d{1,7}"));
    let is_digits =
        |text: &str| (1..=6).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    PAIR.is_match(word)
        || word.split_once(':').is_some_and(|(a, b)| {
            (is_name(a) && is_digits(b)) || (a.len() <= 3 && is_digits(a) && is_name(b))
        })
}

/// A regular expression for a whole word.
pub(super) fn regex(pattern: &str) -> Regex {
    Regex::new(&format!("(?x)^(?:{pattern})$")).expect("a constant")
}

// Pseudonyms: the same word always gets the same one.

/// The kind of a replaced word, which is part of the pseudonym.
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

/// The pseudonyms so far.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// By original word.
    given: HashMap<String, String>,
    /// Number of pseudonyms of each kind.
    counts: HashMap<Kind, usize>,
    /// Whole texts, and their replacements.
    learnt: HashMap<String, String>,
}

impl Names {
    /// The pseudonym of a word, whether or not it is on the list.
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

    /// Registers a replacement for a text.
    pub(super) fn learn(&mut self, text: String, told: String) {
        self.learnt.insert(text, told);
    }

    pub(super) fn learnt(&self, text: &str) -> Option<String> {
        self.learnt.get(text).cloned()
    }

    /// The original text of each pseudonym.
    pub(super) fn key(&self) -> BTreeMap<String, String> {
        self.given.iter().map(|(word, name)| (name.clone(), word.clone())).collect()
    }
}
