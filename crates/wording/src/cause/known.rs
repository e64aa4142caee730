//! Known causes of slow I/O: what happens, how to detect it, how to test it, what helps.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use iotax_catalog::{near, near_names};
use serde::{Deserialize, Serialize};

/// The files of causes, in the order in which they are listed.
const FILES: [&str; 10] = [
    include_str!("../../causes/1-azure.toml"),
    include_str!("../../causes/2-encryption.toml"),
    include_str!("../../causes/3-nfs.toml"),
    include_str!("../../causes/4-confidential.toml"),
    include_str!("../../causes/5-network.toml"),
    include_str!("../../causes/6-throttling.toml"),
    include_str!("../../causes/7-linux.toml"),
    include_str!("../../causes/8-measured.toml"),
    include_str!("../../causes/9-kubernetes.toml"),
    include_str!("../../causes/10-stacks.toml"),
];
const SOURCES: &str = include_str!("../../causes/sources.toml");

/// A known cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// Its name in commands and results: `dm-crypt-workqueues`.
    pub id: String,
    /// Its number in the list: `2.1`.
    pub number: String,
    /// The cause in one line.
    pub title: String,
    /// What happens.
    pub mechanism: String,
    /// How to see it on a machine.
    pub detection: String,
    /// How to test whether it hurts here.
    pub experiment: String,
    /// What helps.
    pub remedy: String,
    /// How much it cost where it was measured.
    pub magnitude: String,
    /// Sources of the above.
    pub sources: Vec<CauseSource>,
}

/// A source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CauseSource {
    /// Author and title.
    pub title: String,
    /// Address, or repository, file and version.
    pub place: String,
    /// Date of the revision that was read.
    pub date: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    cause: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    id: String,
    number: String,
    title: String,
    mechanism: String,
    detection: String,
    experiment: String,
    remedy: String,
    magnitude: String,
    sources: Vec<String>,
}

/// All causes, in order.
pub fn causes() -> &'static [Cause] {
    static CAUSES: OnceLock<Vec<Cause>> = OnceLock::new();
    CAUSES.get_or_init(|| {
        let sources: BTreeMap<String, CauseSource> =
            toml::from_str(SOURCES).expect("the embedded sources are valid");
        let files = FILES
            .iter()
            .map(|text| toml::from_str::<File>(text).expect("the embedded causes are valid").cause);
        files.flatten().map(|cause| cause.with(&sources)).collect()
    })
}

/// Finds a cause by its name or number.
pub fn cause(id: &str) -> Option<&'static Cause> {
    causes().iter().find(|cause| cause.id == id || cause.number == id)
}

pub fn title(id: &str) -> &str {
    cause(id).map_or(id, |cause| cause.title.as_str())
}

pub fn unknown_cause(id: &str) -> String {
    let near = near(id, causes().iter().map(|cause| cause.id.clone()));
    format!("no known cause `{id}`{}", near_names(&near, "iotax doctor --explain lists them"))
}

impl Written {
    fn with(self, sources: &BTreeMap<String, CauseSource>) -> Cause {
        let source = |name: &String| {
            sources.get(name).expect("the embedded causes name known sources").clone()
        };
        let text = |text: String| text.trim().to_owned();
        Cause {
            id: self.id,
            number: self.number,
            title: self.title,
            mechanism: text(self.mechanism),
            detection: text(self.detection),
            experiment: text(self.experiment),
            remedy: text(self.remedy),
            magnitude: text(self.magnitude),
            sources: self.sources.iter().map(source).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_cause_is_complete_and_has_its_own_name() {
        let mut seen = BTreeSet::new();
        for cause in causes() {
            assert!(seen.insert(&cause.id) && seen.insert(&cause.number), "twice: {}", cause.id);
            assert!(!cause.sources.is_empty(), "{} has no source", cause.id);
            let Cause { title, mechanism, detection, experiment, remedy, magnitude, .. } = cause;
            for text in [title, mechanism, detection, experiment, remedy, magnitude] {
                assert!(!text.is_empty() && text.is_ascii(), "{}: {text}", cause.id);
            }
        }
    }

    /// The groups of causes. One with several has a letter behind each of their numbers.
    const GROUPS: [&str; 67] = [
        "1.1", "1.2", "1.3", "1.4", "1.5", "2.1", "2.2", "2.3", "2.4", "2.5", "3.1", "3.2", "3.3",
        "4.1", "4.2", "5.1", "5.2", "5.3", "5.4", "5.5", "5.6", "5.7", "5.8", "5.9", "6.1", "6.2",
        "6.3", "6.4", "6.5", "6.6", "7.1", "7.2", "7.3", "7.4", "7.5", "7.6", "7.7", "8.1", "8.2",
        "8.3", "8.4", "8.5", "8.6", "8.7", "8.8", "8.9", "8.10", "8.11", "8.12", "8.13", "8.14",
        "8.15", "9.1", "9.2", "9.3", "9.4", "9.5", "9.6", "9.7", "10.1", "10.2", "10.3", "10.4",
        "10.5", "10.6", "10.7", "10.8",
    ];

    #[test]
    fn every_group_has_a_cause_and_every_cause_a_group() {
        let group = |cause: &Cause| cause.number.trim_end_matches(char::is_alphabetic).to_owned();
        let groups: BTreeSet<_> = causes().iter().map(group).collect();
        assert_eq!(groups, GROUPS.map(str::to_owned).into());
    }

    #[test]
    fn every_cause_has_a_rule_and_every_rule_a_cause() {
        let causes: BTreeSet<_> = causes().iter().map(|cause| cause.id.as_str()).collect();
        assert_eq!(iotax_diagnose::all_causes().collect::<BTreeSet<_>>(), causes);
    }

    #[test]
    fn every_source_is_used() {
        let sources: BTreeMap<String, CauseSource> = toml::from_str(SOURCES).unwrap();
        for (name, source) in &sources {
            let uses = causes().iter().any(|cause| cause.sources.contains(source));
            assert!(uses, "no cause names the source {name}");
        }
    }

    #[test]
    fn a_cause_is_found_by_name_or_number_and_a_typo_is_reported() {
        assert_eq!(cause("2.1").unwrap().id, "dm-crypt-workqueues");
        insta::assert_snapshot!(unknown_cause("dm-crypt-workqueue"), @"no known cause `dm-crypt-workqueue`: did you mean dm-crypt-workqueues?");
        insta::assert_snapshot!(unknown_cause("zzzz"), @"no known cause `zzzz`: iotax doctor --explain lists them");
    }
}
