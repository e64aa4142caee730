//! Unique names, and short names for the targets of jobs.

use std::collections::{BTreeMap, HashMap, HashSet};

use iotax_experiment::Workload;

/// Gives each thing a unique name, in time that does not depend on the number of names.
#[derive(Debug, Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
    /// The last number appended to a repeated name.
    numbers: HashMap<String, u64>,
}

impl Names {
    /// With a name that is already taken.
    pub(crate) fn without(reserved: &str) -> Self {
        Self { taken: HashSet::from([reserved.to_owned()]), ..Self::default() }
    }

    /// The name, or the first of `name-2`, `name-3`, ... that is not taken.
    pub(crate) fn take(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while !self.taken.insert(name.clone()) {
            let number = self.numbers.entry(wanted.to_owned()).or_insert(1);
            *number += 1;
            name = format!("{wanted}-{number}");
        }
        name
    }
}

/// Where a job works, as written: the directory or device, without the file.
pub(crate) type Written = String;

/// Shortens the names that the jobs of all phases use for their targets. The name is the last part
/// of the place as written, or all of it if two places end alike: `/mnt/e` and `/mnt/f` become `e`
/// and `f`. A place without letters, such as `.`, does not become a name.
pub(crate) fn shorten_targets(phases: &mut [Workload]) {
    let jobs = || phases.iter().flat_map(|phase| &phase.jobs);
    let mut places: BTreeMap<String, Written> = BTreeMap::new();
    let mut alike: Vec<String> = Vec::new();
    for place in jobs().filter_map(|job| job.target.as_ref()) {
        let short = last(place);
        let known = places.entry(short.clone()).or_insert_with(|| place.clone());
        if known != place {
            alike.push(short);
        }
    }
    for job in phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
        job.target = job.target.take().and_then(|place| {
            let short = last(&place);
            let name = if alike.contains(&short) { name(&place) } else { short };
            (!name.is_empty()).then_some(name)
        });
    }
}

fn last(place: &str) -> String {
    name(last_part(place))
}

/// Begins and ends with a letter or a digit.
fn name(place: &str) -> String {
    plain(place).trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned()
}

/// For paths of this system or of Windows.
pub(crate) fn last_part(path: &str) -> &str {
    let path = path.trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Only letters, digits, `.`, `_` and `-`; anything else becomes `_`, once for several characters.
pub(crate) fn plain(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let mut name = String::new();
    for c in text.chars() {
        match c {
            _ if is_plain(c) => name.push(c),
            _ if name.is_empty() || name.ends_with('_') => {}
            _ => name.push('_'),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::Names;
    use crate::{diskspd, fio};

    /// What each job calls its target.
    fn of_file(text: &str) -> String {
        let none = |name: &str| Err(name.to_owned());
        let phases = fio::from_job_file("job.fio", text, &none).unwrap();
        let jobs = phases.iter().flat_map(|phase| &phase.jobs);
        let named =
            jobs.map(|job| format!("{}: {}", job.name, job.target.as_deref().unwrap_or("-")));
        named.collect::<Vec<_>>().join(", ")
    }

    fn of_command(text: &str) -> String {
        let jobs = diskspd::from_command(text).unwrap().remove(0).jobs;
        jobs.iter().map(|job| job.target.as_deref().unwrap_or("-")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_job_of_fio_is_where_its_directory_or_its_file_is() {
        let global = "[global]\nsize=1m\nruntime=1\ntime_based\n";
        let of = |jobs: &str| of_file(&format!("{global}{jobs}"));
        let told = [
            of("[a]\ndirectory=/mnt/e\n[b]\ndirectory=/mnt/f/\n[c]\n"),
            of("[a]\nfilename=/mnt/e/x\n[b]\nfilename=x\n[c]\nfilename=/dev/sdc\n"),
            of("[a]\ndirectory=/mnt/e\nfilename=x\n[b]\nfilename=data/x\n"),
            of("[a]\nfilename=/mnt/e/x:/mnt/e/y\n[b]\nfilename=/mnt/e/x:/mnt/f/y\n"),
            of("[a]\ndirectory=/mnt/e:/mnt/f\n[b]\ndirectory=.\n"),
            of("[a]\ndirectory=/fast/data\n[b]\nstonewall\ndirectory=/slow/data\n"),
        ];
        insta::assert_snapshot!(told.join("\n"), @"
        a: e, b: f, c: -
        a: e, b: -, c: sdc
        a: e, b: data
        a: e, b: -
        a: -, b: -
        a: fast_data, b: slow_data
        ");
    }

    #[test]
    fn a_target_of_diskspd_is_on_a_drive_a_disk_or_in_a_directory() {
        let told = [
            of_command(r"diskspd -c1M E:\io.tst F:\io.tst g:\a\b.dat"),
            of_command(r"diskspd -c1M #1 \\.\PhysicalDrive2"),
            of_command(r"diskspd -c1M \\server\share\x.dat io.tst"),
            of_command("diskspd -c1M /mnt/e/x /dev/sdc"),
        ];
        insta::assert_snapshot!(told.join("\n"), @"
        e f g
        disk1 physicaldrive2
        share -
        e sdc
        ");
    }

    #[test]
    fn names_that_come_again_are_numbered_past_those_that_are_taken() {
        let mut names = Names::without("index");
        let given: Vec<_> =
            ["a", "a-2", "a", "index", "a"].iter().map(|name| names.take(name)).collect();
        assert_eq!(given, ["a", "a-2", "a-3", "index-2", "a-4"]);
    }
}
