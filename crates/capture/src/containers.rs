//! The processes of a container, found by its ID.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::groups::processes_in;
use crate::processes::Subject;

/// Length of the IDs of Docker, containerd, CRI-O and Podman.
const ID_DIGITS: usize = 64;

/// A container with processes on this machine.
#[derive(Debug, Default)]
struct Container {
    pids: Vec<u32>,
    /// Its control group in each hierarchy, as `/proc/PID/cgroup` lists it.
    groups: Vec<Group>,
}

/// A line of `/proc/PID/cgroup`, up to the container.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    /// Empty for version 2.
    controllers: String,
    path: String,
    id: String,
}

/// The container whose ID begins with `id`, which may have a prefix such as `containerd://`. It is
/// its control group, so that later processes are included, or its processes if that group is not
/// visible from here.
///
/// # Errors
/// If no process, or more than one container, has such an ID.
pub fn find_container(id: &str) -> Result<Subject, Error> {
    find_in(Path::new("/proc"), id)
}

fn find_in(proc: &Path, id: &str) -> Result<Subject, Error> {
    let digits = id.rsplit('/').next().unwrap_or_default();
    let mut found = containers(proc, digits);
    let named = || id.to_owned();
    let Some((_, container)) = found.pop_first() else {
        return Err(Error::NoContainer { id: named() });
    };
    if let Some((other, _)) = found.pop_first() {
        return Err(Error::SeveralContainers { id: named(), other });
    }
    let directory = directories(proc, &container.groups).into_iter().find(|directory| {
        // A namespace may show other groups under the same path.
        processes_in(directory)
            .is_ok_and(|pids| pids.iter().any(|pid| container.pids.contains(pid)))
    });
    Ok(directory.map_or(Subject::Processes(container.pids), Subject::Group))
}

/// By ID, all containers whose ID begins with these digits.
fn containers(proc: &Path, digits: &str) -> BTreeMap<String, Container> {
    let mut found: BTreeMap<String, Container> = BTreeMap::new();
    if digits.is_empty() {
        return found;
    }
    for entry in fs::read_dir(proc).into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(pid) = pid else { continue };
        // The process may be gone by now.
        let text = fs::read_to_string(entry.path().join("cgroup")).unwrap_or_default();
        let groups: Vec<Group> = text.lines().filter_map(|line| group(line, digits)).collect();
        let Some(first) = groups.first() else { continue };
        let container = found.entry(first.id.clone()).or_default();
        container.pids.push(pid);
        if container.groups.is_empty() {
            container.groups = groups;
        }
    }
    found
}

/// The part of a line such as `0::/kubepods.slice/cri-containerd-ID.scope/below` that ends with a
/// container whose ID begins with these digits.
fn group(line: &str, digits: &str) -> Option<Group> {
    let (_, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    let mut end = 0;
    for part in path.split_inclusive('/') {
        end += part.len();
        if let Some(id) = id_of(part.trim_end_matches('/')).filter(|id| id.starts_with(digits)) {
            let path = path[..end].trim_end_matches('/').to_owned();
            return Some(Group { controllers: controllers.to_owned(), path, id: id.to_owned() });
        }
    }
    None
}

/// The ID in the name of a control group: `ID`, `docker-ID.scope`, `cri-containerd:ID`. The
/// processes that watch containers (`crio-conmon-ID.scope`) are not part of them.
fn id_of(name: &str) -> Option<&str> {
    let id = name.strip_suffix(".scope").unwrap_or(name).rsplit(['-', ':']).next()?;
    let is_id = id.len() == ID_DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_id && !name.contains("conmon")).then_some(id)
}

/// Where these groups are mounted. The mounts of the first process are used because a container
/// sees only its own groups; those of this process remain if the first one is not accessible.
fn directories(proc: &Path, groups: &[Group]) -> Vec<PathBuf> {
    let mut directories = Vec::new();
    for process in ["1", "self"] {
        let process = proc.join(process);
        let mounts = fs::read_to_string(process.join("mountinfo")).unwrap_or_default();
        for mount in mounts.lines() {
            let here = groups.iter().filter_map(|group| directory(mount, group));
            directories.extend(here.map(|inside| process.join("root").join(inside)));
        }
    }
    directories
}

/// The directory of a group, relative to the root directory, if this line of `mountinfo` is the
/// mount of its whole hierarchy.
fn directory(mount: &str, group: &Group) -> Option<PathBuf> {
    let (place, kind) = mount.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let (root, at) = (place.next()?, place.next()?);
    let mut kind = kind.split(' ');
    let (file_system, options) = (kind.next()?, kind.nth(1)?);
    let has = |controller: &str| options.split(',').any(|option| option == controller);
    let is_mounted = match file_system {
        "cgroup2" => group.controllers.is_empty(),
        "cgroup" => !group.controllers.is_empty() && group.controllers.split(',').all(has),
        _ => false,
    };
    let inside = || Some(Path::new(at.strip_prefix('/')?).join(group.path.strip_prefix('/')?));
    (root == "/" && is_mounted).then(inside)?
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "4f2f51b0ea1ddaec1145dc0582cf8641d93a485f00112233445566778899aabb";

    #[test]
    fn a_container_is_found_in_the_groups_of_every_runtime() {
        let found = |path: &str| {
            group(&format!("0::{}", path.replace("ID", ID)), &ID[..12])
                .map(|group| group.path.replace(ID, "ID"))
        };
        for (path, expected) in [
            ("/docker/ID", "/docker/ID"),
            ("/system.slice/docker-ID.scope", "/system.slice/docker-ID.scope"),
            (
                "/kubepods.slice/kubepods-pod1.slice/cri-containerd-ID.scope/below",
                "/kubepods.slice/kubepods-pod1.slice/cri-containerd-ID.scope",
            ),
            ("/kubepods/burstable/pod1-2/ID/a/b", "/kubepods/burstable/pod1-2/ID"),
            ("/kubepods.slice/crio-ID.scope/container", "/kubepods.slice/crio-ID.scope"),
            ("/system.slice:cri-containerd:ID", "/system.slice:cri-containerd:ID"),
            // A node that is itself a container.
            ("/docker/a/kubelet/pod1/ID", "/docker/a/kubelet/pod1/ID"),
        ] {
            assert_eq!(found(path).as_deref(), Some(expected));
        }
        for path in ["/", "/user.slice", "/crio-conmon-ID.scope", "/docker/IDa", "/ID.mount"] {
            assert_eq!(found(path), None, "{path}");
        }
        assert_eq!(group(&format!("0::/docker/{ID}"), "4f3"), None);
    }

    #[test]
    fn only_a_mount_of_the_whole_hierarchy_leads_to_a_group() {
        let of = |controllers: &str| Group {
            controllers: controllers.to_owned(),
            path: "/pod/x".to_owned(),
            id: String::new(),
        };
        let second = "30 23 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        let first = "31 23 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:5 - cgroup x rw,cpu,cpuacct";
        let own = "32 23 0:29 /pod/y /sys/fs/cgroup/pids rw - cgroup x rw,pids";
        let found = |mount, controllers| directory(mount, &of(controllers));
        assert_eq!(found(second, ""), Some("sys/fs/cgroup/pod/x".into()));
        assert_eq!(found(first, "cpu,cpuacct"), Some("sys/fs/cgroup/cpu,cpuacct/pod/x".into()));
        for (mount, controllers) in
            [(second, "pids"), (first, ""), (first, "pids"), (own, "pids"), ("", "")]
        {
            assert_eq!(found(mount, controllers), None, "{mount} {controllers}");
        }
    }

    /// A `/proc` with these groups of processes, and one mounted hierarchy.
    fn proc(groups: &[(u32, &str)]) -> tempfile::TempDir {
        let proc = tempfile::tempdir().unwrap();
        let first = proc.path().join("1");
        fs::create_dir(&first).unwrap();
        let mount = "30 23 0:27 / /groups rw - cgroup2 cgroup2 rw\n";
        fs::write(first.join("mountinfo"), mount).unwrap();
        for (pid, group) in groups {
            let process = proc.path().join(pid.to_string());
            fs::create_dir_all(&process).unwrap();
            fs::write(process.join("cgroup"), format!("0::{group}\n")).unwrap();
            let directory = first.join("root/groups").join(group.trim_start_matches('/'));
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("cgroup.procs"), format!("{pid}\n")).unwrap();
        }
        proc
    }

    #[test]
    fn a_container_is_its_group_or_its_processes() {
        let group = format!("/pods/cri-containerd-{ID}.scope");
        let below = format!("{group}/below");
        let proc = proc(&[(1, "/"), (77, &group), (78, &below), (80, "/other")]);
        let found = find_in(proc.path(), &format!("containerd://{ID}")).unwrap();
        let directory = proc.path().join("1/root/groups").join(&group[1..]);
        assert_eq!(found, Subject::Group(directory));
        // From a namespace in which the same path is another group.
        fs::write(proc.path().join("1/root/groups").join(&group[1..]).join("cgroup.procs"), "5")
            .unwrap();
        fs::remove_dir_all(proc.path().join("1/root/groups").join(&below[1..])).unwrap();
        let Subject::Processes(mut pids) = find_in(proc.path(), &ID[..12]).unwrap() else {
            panic!("it is the group of others");
        };
        pids.sort_unstable();
        assert_eq!(pids, [77, 78]);
    }

    #[test]
    fn an_id_must_mean_one_container() {
        let other = format!("/pods/{}", ID.replace("aabb", "aabc"));
        let proc = proc(&[(1, "/"), (77, &format!("/pods/{ID}")), (78, &other)]);
        let why = |id: &str| find_in(proc.path(), id).unwrap_err().to_string();
        assert!(why(&ID[..12]).starts_with("several containers have an ID that begins with"));
        for id in ["", "containerd://", "0000"] {
            assert!(why(id).contains("no process on this machine belongs to container"), "{id}");
        }
        assert!(matches!(find_in(proc.path(), ID), Ok(Subject::Group(_))));
    }
}
