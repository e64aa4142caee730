//! What is up on this machine: loop devices, device mapper devices, mounts, processes.
//!
//! Tests list it before and after. Several tests, and other programs, are at work on a machine at
//! the same time: what is listed is what stands on, or in, one directory.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use iotax_inspect::parse_mountinfo;

/// Everything that has to do with `directory`, a line for each: loop devices whose file is in it,
/// device mapper devices on these, mounts of any of these or at a place in it, and processes of
/// iotax's, in which network namespaces live. And sockets that outlived their WireGuard, whoever
/// had it.
pub(crate) fn traces_of(directory: &Path) -> BTreeSet<String> {
    let directory = &fs::canonicalize(directory).unwrap();
    let loops = loops(directory);
    let mappings = mappings(&loops);
    let devices: Vec<PathBuf> =
        loops.iter().chain(&mappings).map(|device| device.node.clone()).collect();
    let mut traces: BTreeSet<String> =
        loops.iter().chain(&mappings).map(|device| device.shown.clone()).collect();
    traces.extend(mounts(directory, &devices));
    traces.extend(
        processes(directory).into_iter().map(|(pid, line)| format!("process {pid} {line}")),
    );
    traces.extend(abandoned_sockets());
    traces
}

/// Sockets of WireGuard daemons that are no more: one has the interface's name in its command line.
fn abandoned_sockets() -> Vec<String> {
    let sockets = fs::read_dir("/var/run/wireguard").into_iter().flatten().flatten();
    let names: Vec<_> =
        sockets.filter_map(|socket| socket.file_name().into_string().ok()).collect();
    if names.is_empty() {
        return names;
    }
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines: Vec<_> =
        processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok()).collect();
    let is_abandoned = |name: &String| {
        let interface = name.trim_end_matches(".sock").as_bytes();
        !lines.iter().any(|line| contains(line, interface))
    };
    names.into_iter().filter(is_abandoned).map(|name| format!("socket {name}")).collect()
}

/// Ids and command lines of iotax's daemons, and of programs it runs, that have `directory` in
/// their command line, and of all that work in it.
pub(crate) fn processes(directory: &Path) -> Vec<(i32, String)> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let line = fs::read(entry.path().join("cmdline")).ok()?;
            let works_in = fs::read_link(entry.path().join("cwd")).ok()?.starts_with(directory);
            let names = || contains(&line, directory.as_os_str().as_bytes());
            let is_one = works_in || names() && is_iotaxs(&entry.path());
            let is_one = is_one && !is_being_killed(&entry.path());
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            (is_one && !line.is_empty()).then_some((pid, line))
        })
        .collect()
}

/// Whether SIGKILL has been sent: no process outlives that, though on a busy machine it takes a
/// while until it is its turn to go.
fn is_being_killed(process: &Path) -> bool {
    const SIGKILL: u64 = 1 << 8;
    let status = fs::read_to_string(process.join("status")).unwrap_or_default();
    let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:"));
    let pending = pending.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    pending.is_some_and(|mask| mask & SIGKILL != 0)
}

/// Whether a process bears a mark of iotax's in its environment.
fn is_iotaxs(process: &Path) -> bool {
    let environment = fs::read(process.join("environ")).unwrap_or_default();
    let marks: [&[u8]; 2] = [b"IOTAX_DAEMON=", b"IOTAX_RUN="];
    let mut variables = environment.split(|byte| *byte == 0);
    variables.any(|variable| marks.iter().any(|mark| variable.starts_with(mark)))
}

/// Whether `part` is somewhere in `whole`.
pub(crate) fn contains(whole: &[u8], part: &[u8]) -> bool {
    // Most bytes are not the first one of the part, which is found much faster than the part.
    let mut rest = whole;
    while let Some(at) = rest.iter().position(|byte| *byte == part[0]) {
        rest = &rest[at..];
        if rest.starts_with(part) {
            return true;
        }
        rest = &rest[1..];
    }
    false
}

struct Device {
    /// As in /sys/block.
    name: String,
    node: PathBuf,
    shown: String,
}

fn block_devices(kind: &str) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir("/sys/block").unwrap().flatten();
    entries
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.path()))
        .filter(|(name, _)| name.starts_with(kind))
        .collect()
}

fn loops(directory: &Path) -> Vec<Device> {
    block_devices("loop")
        .into_iter()
        .filter_map(|(name, path)| {
            let backing = fs::read_to_string(path.join("loop/backing_file")).ok()?;
            let shown = format!("{name} on {}", backing.trim_end());
            let is_in = Path::new(backing.trim_end()).starts_with(directory);
            is_in.then(|| Device { node: Path::new("/dev").join(&name), name, shown })
        })
        .collect()
}

/// Those on `devices`, and those on these.
fn mappings(devices: &[Device]) -> Vec<Device> {
    let mut known: BTreeSet<String> = devices.iter().map(|device| device.name.clone()).collect();
    let mut found = Vec::new();
    let all = block_devices("dm-");
    // As deep as there are devices.
    for _ in &all {
        for (name, path) in &all {
            let slaves = fs::read_dir(path.join("slaves")).into_iter().flatten().flatten();
            let mut slaves = slaves.map(|slave| slave.file_name().into_string().unwrap());
            if known.contains(name) || !slaves.any(|slave| known.contains(&slave)) {
                continue;
            }
            known.insert(name.clone());
            let mapping = fs::read_to_string(path.join("dm/name")).unwrap_or_default();
            let node = Path::new("/dev/mapper").join(mapping.trim());
            let shown = format!("{name} {}", mapping.trim());
            found.push(Device { name: name.clone(), node, shown });
        }
    }
    found
}

fn mounts(directory: &Path, devices: &[PathBuf]) -> Vec<String> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap();
    parse_mountinfo(&text)
        .into_iter()
        .filter(|mount| {
            let on_ours = devices.iter().any(|device| device == Path::new(&mount.source));
            on_ours || mount.mount_point.starts_with(directory)
        })
        .map(|mount| format!("{} at {}", mount.file_system, mount.mount_point.display()))
        .collect()
}
