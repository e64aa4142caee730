//! Control groups and the systemd units whose processes are in them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::Error;

const CGROUPS: &str = "/sys/fs/cgroup";
/// Where systemd looks for units, in its order.
const UNITS: [&str; 4] = [
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];

/// A control group as the kernel tells it apart: `struct group` in `bpf/event.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GroupId {
    id: u64,
    /// 0 for version 2. Each hierarchy of version 1 numbers its groups anew.
    hierarchy: u32,
    is_set: u32,
}

impl GroupId {
    /// `None` if the directory is not a control group, or if its hierarchy cannot be found.
    pub(crate) fn of(group: &Path) -> Option<Self> {
        let facts = fs::metadata(group).ok()?;
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let hierarchies = fs::read_to_string("/proc/self/cgroup").ok()?;
        let hierarchy = hierarchy_of(facts.dev(), &mounts, &hierarchies)?;
        Some(Self { id: facts.ino(), hierarchy, is_set: 1 })
    }
}

/// The number of the hierarchy that is mounted with this device number. A line of `mountinfo` ends
/// with the file system, its source and its options, which name the controllers.
fn hierarchy_of(device: u64, mounts: &str, hierarchies: &str) -> Option<u32> {
    let number = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    let mount = mounts.lines().find(|line| line.split(' ').nth(2) == Some(&number))?;
    let mut facts = mount.split_once(" - ")?.1.split(' ');
    match (facts.next()?, facts.nth(1)) {
        ("cgroup2", _) => Some(0),
        ("cgroup", Some(options)) => hierarchies.lines().find_map(|line| {
            let mut fields = line.split(':');
            let (number, controllers) = (fields.next()?, fields.next()?);
            let is_mounted = !controllers.is_empty()
                && controllers.split(',').all(|one| options.split(',').any(|option| option == one));
            number.parse().ok().filter(|_| is_mounted)
        }),
        _ => None,
    }
}

/// The processes in a group and in the groups below it.
pub(crate) fn processes_in(group: &Path) -> io::Result<Vec<u32>> {
    let text = fs::read_to_string(group.join("cgroup.procs"))?;
    let mut pids: Vec<u32> = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
    for entry in fs::read_dir(group)?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            // It may be gone by now.
            pids.extend(processes_in(&entry.path()).unwrap_or_default());
        }
    }
    Ok(pids)
}

/// The cgroup of a systemd unit, given as `postgresql` or `postgresql.service`. If the unit itself
/// has no processes, that of the unit it is an alias of, or of its only running instance:
/// `postgresql@15-main.service`.
///
/// # Errors
/// [`Error::NoUnit`] if no such unit is running, and [`Error::SeveralUnits`] if several instances
/// are.
pub fn find_unit(unit: &str) -> Result<PathBuf, Error> {
    let mut running = running_units(Path::new(CGROUPS));
    let name = resolved(unit, &running, &|name| alias(name, &UNITS.map(Path::new)))?;
    Ok(running.remove(&name).expect("it is running"))
}

/// Units with processes, and their groups.
fn running_units(groups: &Path) -> BTreeMap<String, PathBuf> {
    const KINDS: [&str; 4] = ["service", "scope", "slice", "socket"];
    let mut found = BTreeMap::new();
    let mut directories = vec![groups.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let path = entry.path();
            let kind = path.extension().and_then(OsStr::to_str).unwrap_or_default();
            if KINDS.contains(&kind)
                && let Ok(name) = entry.file_name().into_string()
                && !found.contains_key(&name)
                && processes_in(&path).is_ok_and(|pids| !pids.is_empty())
            {
                found.insert(name, path.clone());
            }
            directories.push(path);
        }
    }
    found
}

/// The unit that this name is a symbolic link to.
fn alias(name: &str, directories: &[&Path]) -> Option<String> {
    let target = directories.iter().find_map(|at| fs::read_link(at.join(name)).ok())?;
    // A unit that is linked to /dev/null is masked.
    let target = target.file_name()?.to_str()?.to_owned();
    (target != name && target.contains('.')).then_some(target)
}

/// The running instances of a template, or of the template that is named like the unit. A target
/// has no processes, but is often named like the service that it starts.
fn instances_of<T>(name: &str, running: &BTreeMap<String, T>) -> Vec<String> {
    let Some((stem, kind)) = name.rsplit_once('.') else { return Vec::new() };
    let (kind, is_target) = if kind == "target" { ("service", true) } else { (kind, false) };
    let start = format!("{}@", stem.trim_end_matches('@'));
    let is_instance = |one: &&String| {
        let Some((running, of)) = one.rsplit_once('.') else { return false };
        of == kind && (running.starts_with(&start) || is_target && running == stem)
    };
    running.keys().filter(is_instance).cloned().collect()
}

/// The running unit that a name means.
fn resolved<T>(
    unit: &str,
    running: &BTreeMap<String, T>,
    alias: &dyn Fn(&str) -> Option<String>,
) -> Result<String, Error> {
    let has_kind = [".service", ".scope", ".slice", ".socket", ".target"]
        .iter()
        .any(|kind| unit.ends_with(kind));
    let name = if has_kind { unit.to_owned() } else { format!("{unit}.service") };
    let aliased = alias(&name);
    for name in [Some(&name), aliased.as_ref()].into_iter().flatten() {
        if running.contains_key(name) {
            return Ok(name.clone());
        }
        let instances = instances_of(name, running);
        match &instances[..] {
            [] => {}
            [only] => return Ok(only.clone()),
            _ => return Err(Error::SeveralUnits { unit: unit.to_owned(), units: instances }),
        }
    }
    let stem = name.split(['.', '@']).next().unwrap_or_default();
    let is_kind = |one: &str, kind| one.rsplit_once('.').is_some_and(|(_, end)| end == kind);
    let similar = |one: &&String| !stem.is_empty() && one.contains(stem) && !is_kind(one, "slice");
    let mut units: Vec<String> = running.keys().filter(similar).cloned().collect();
    if units.is_empty() {
        units = running.keys().filter(|one| is_kind(one, "service")).cloned().collect();
    }
    Err(Error::NoUnit { unit: unit.to_owned(), units })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(units: &[&str]) -> BTreeMap<String, u8> {
        units.iter().map(|unit| ((*unit).to_owned(), 0)).collect()
    }

    fn found(unit: &str, units: &[&str]) -> Result<String, String> {
        let alias = |name: &str| (name == "mysql.service").then(|| "mariadb.service".to_owned());
        resolved(unit, &running(units), &alias).map_err(|error| error.to_string())
    }

    #[test]
    fn a_name_is_a_unit_its_alias_or_its_only_instance() {
        let units = ["mariadb.service", "postgresql@15-main.service", "ssh.service", "app.slice"];
        for (unit, expected) in [
            ("ssh", "ssh.service"),
            ("ssh.service", "ssh.service"),
            ("app.slice", "app.slice"),
            ("mysql", "mariadb.service"),
            ("postgresql", "postgresql@15-main.service"),
            ("postgresql@", "postgresql@15-main.service"),
            ("postgresql@15-main", "postgresql@15-main.service"),
            ("ssh.target", "ssh.service"),
        ] {
            assert_eq!(found(unit, &units).as_deref(), Ok(expected), "{unit}");
        }
    }

    #[test]
    fn a_name_that_is_not_clear_is_answered_with_units_that_run() {
        let units = ["postgresql@14-a.service", "postgresql@15-b.service", "ssh.service"];
        assert_eq!(
            found("postgresql", &units).unwrap_err(),
            "several instances of systemd unit `postgresql` are running; choose one: \
             --unit postgresql@14-a.service, --unit postgresql@15-b.service"
        );
        assert_eq!(
            found("sql", &units).unwrap_err(),
            "systemd unit `sql` is not running; running: postgresql@14-a.service, \
             postgresql@15-b.service"
        );
        assert_eq!(
            found("nginx", &units[2..]).unwrap_err(),
            "systemd unit `nginx` is not running; running: ssh.service"
        );
        assert_eq!(
            found("nginx", &[]).unwrap_err(),
            "systemd unit `nginx` is not running; check with systemctl status"
        );
    }

    #[test]
    fn units_are_found_by_their_groups() {
        let groups = tempfile::tempdir().unwrap();
        let deep = groups.path().join("system.slice/system-app.slice/app@1.service");
        fs::create_dir_all(&deep).unwrap();
        fs::create_dir(groups.path().join("system.slice/idle.service")).unwrap();
        for directory in
            ["system.slice", "system.slice/system-app.slice", "system.slice/idle.service"]
        {
            fs::write(groups.path().join(directory).join("cgroup.procs"), "").unwrap();
        }
        fs::write(deep.join("cgroup.procs"), "42\n").unwrap();
        let units = running_units(groups.path());
        assert_eq!(units.get("app@1.service"), Some(&deep));
        assert!(!units.contains_key("idle.service"));
    }

    #[test]
    fn a_link_is_an_alias() {
        let units = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("mariadb.service", units.path().join("mysql.service")).unwrap();
        std::os::unix::fs::symlink("/dev/null", units.path().join("masked.service")).unwrap();
        let of = |name| alias(name, &[Path::new("/no/such/place"), units.path()]);
        assert_eq!(of("mysql.service").as_deref(), Some("mariadb.service"));
        assert_eq!(of("masked.service"), None);
        assert_eq!(of("none.service"), None);
    }

    #[test]
    fn the_hierarchy_is_that_of_the_mount() {
        let mounts = "30 24 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
                      31 24 0:27 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
                      32 24 0:28 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n\
                      33 24 0:29 / /tmp rw - tmpfs tmpfs rw\n";
        let hierarchies = "7:cpu,cpuacct:/a\n1:name=systemd:/b\n0::/c\n";
        let of = |minor| hierarchy_of(rustix::fs::makedev(0, minor), mounts, hierarchies);
        assert_eq!(
            [of(26), of(27), of(28), of(29), of(30)],
            [Some(0), Some(7), Some(1), None, None]
        );
    }
}
