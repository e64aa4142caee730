//! Commands that a path takes. A rule writes its test for a directory in which files can be made;
//! iotax writes neither to a device that is named nor to a file with data, and FIFOs hold none.

use iotax_record::Machine;
use iotax_record::machine::{PathKind, PathSeen};

use super::snapshot::{as_argument, word};

/// Files below this size are not read in a test: all of it would be in a cache, and some workloads
/// need more.
const LEAST_BYTES: u64 = 64 << 20;
/// Workloads that only read, and make no files of their own where there is data.
const READ_ONLY: [&str; 2] = ["randread-4k", "seqread-1m"];
/// Workloads that want a peer, and no files.
const ON_NETWORK: [&str; 4] = ["tcp-stream", "tcp-stream-back", "tcp-rr", "udp-stream"];

/// The commands, each with its paths replaced by places that it can be run on; without those for
/// which there is no such place.
pub(super) fn usable(machine: &Machine, commands: &[String]) -> Vec<String> {
    let mut usable: Vec<String> = Vec::new();
    for command in commands {
        if let Some(command) = fitted(machine, command)
            && !usable.contains(&command)
        {
            usable.push(command);
        }
    }
    usable
}

fn fitted(machine: &Machine, command: &str) -> Option<String> {
    let words = shlex::split(command)?;
    let only_reads = only_reads(&words);
    let is_for_network = words.get(1).is_some_and(|word| word == "net")
        || words.iter().any(|word| ON_NETWORK.contains(&word.as_str()));
    let fit = |given: &String| {
        // `name=path` names the arms of a comparison.
        let arm = given.split_once('=').filter(|(_, path)| is_path(machine, path));
        match arm {
            Some((name, path)) => Some(format!("{name}={}", place(machine, path, only_reads)?)),
            None if is_path(machine, given) => {
                let is_peer = path_seen(machine, given)?.kind == Some(PathKind::Peer);
                place(machine, given, only_reads).filter(|_| is_peer == is_for_network)
            }
            None => Some(as_written(given)),
        }
    };
    let fitted: Option<Vec<_>> = words.iter().map(fit).collect();
    Some(fitted?.join(" "))
}

/// A word for a shell; what follows a name and `=` is quoted alone, as rules write it.
fn as_written(given: &str) -> String {
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    match given.split_once('=') {
        Some((name, value)) if is_name(name) && !value.is_empty() => {
            format!("{name}={}", word(value))
        }
        _ => word(given),
    }
}

/// Whether a command reads what is there, where there is something to be read.
fn only_reads(words: &[String]) -> bool {
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["iotax", "limits", ..] => true,
        ["iotax", "run", workload, ..] | ["iotax", "compare", "-w", workload, ..] => {
            READ_ONLY.contains(workload)
        }
        _ => false,
    }
}

fn path_seen<'a>(machine: &'a Machine, given: &str) -> Option<&'a PathSeen> {
    machine.paths.iter().find(|seen| as_argument(&seen.path) == given)
}

fn is_path(machine: &Machine, given: &str) -> bool {
    path_seen(machine, given).is_some()
}

/// Where a command can be run instead of on a path, for a shell: it may be the path itself.
fn place(machine: &Machine, given: &str, only_reads: bool) -> Option<String> {
    let seen = path_seen(machine, given)?;
    // iotax takes texts for targets.
    let is_odd = seen.shell.is_some();
    let is_text = !(is_odd && seen.path.contains(char::REPLACEMENT_CHARACTER));
    let for_shell = || match seen.shell_word() {
        Some(shell) if seen.path.starts_with('-') => Some(format!("./{shell}")),
        Some(shell) => Some(shell.to_owned()),
        None => (!is_odd).then(|| word(given)),
    };
    let itself = || if is_text { for_shell() } else { None };
    let directory = || Some(word(&as_argument(seen.directory.as_deref()?)));
    let device = || if only_reads { device(machine, seen) } else { None };
    match seen.kind {
        // Machines that were saved by earlier versions do not say.
        None if seen.path.starts_with("/dev/") && is_device(machine, seen) => {
            only_reads.then(itself).flatten()
        }
        None | Some(PathKind::Peer) => itself(),
        // Nothing can be put on it.
        Some(PathKind::Interface) => None,
        Some(PathKind::Device) => only_reads.then(itself).flatten(),
        Some(PathKind::File)
            if only_reads && is_text && seen.size_bytes.is_some_and(|n| n >= LEAST_BYTES) =>
        {
            itself()
        }
        Some(PathKind::Directory) if seen.directory.is_some() => itself(),
        Some(PathKind::Directory | PathKind::File | PathKind::Other) => directory().or_else(device),
    }
}

fn is_device(machine: &Machine, seen: &PathSeen) -> bool {
    let top = seen.top.and_then(|top| machine.nodes.get(top));
    top.is_some_and(|node| node.layer.device().is_some())
}

/// The device directly below the mount that a path lies on: it can be read where no file can be
/// made.
fn device(machine: &Machine, seen: &PathSeen) -> Option<String> {
    let top = machine.nodes.get(seen.top?)?;
    let [below] = top.below.as_slice() else { return None };
    let device = machine.nodes.get(*below)?.layer.device()?;
    (!device.name.is_empty()).then(|| word(&format!("/dev/{}", device.name)))
}

#[cfg(test)]
mod tests {
    use iotax_record::machine::{Device, MountSeen, Node, SeenLayer};

    use super::*;

    /// A path on a mount on `sda`.
    fn machine(path: PathSeen) -> Machine {
        let mount = SeenLayer::Mount(MountSeen::default());
        let device = Device { name: "sda".to_owned(), ..Device::default() };
        let nodes = vec![
            Node { layer: mount, below: vec![1] },
            Node { layer: SeenLayer::Device(device), below: Vec::new() },
        ];
        Machine { nodes, paths: vec![path], ..Machine::default() }
    }

    fn seen(path: &str, kind: PathKind, directory: Option<&str>) -> PathSeen {
        PathSeen {
            path: path.to_owned(),
            top: Some(usize::from(kind == PathKind::Device)),
            kind: Some(kind),
            directory: directory.map(str::to_owned),
            ..PathSeen::default()
        }
    }

    fn of(path: &PathSeen) -> Vec<String> {
        let words = word(&as_argument(&path.path));
        let commands = [
            format!("iotax run randread-4k {words} --set depth=2"),
            format!("iotax limits {words}"),
            format!("iotax run seqwrite-1m {words}"),
            format!("iotax compare -w randread-4k a={words} b=/else"),
        ];
        usable(&machine(path.clone()), &commands)
    }

    #[test]
    fn a_directory_takes_all_and_a_device_what_only_reads() {
        let all = of(&seen("/mnt/a b", PathKind::Directory, Some("/mnt/a b")));
        assert_eq!(all[2], "iotax run seqwrite-1m '/mnt/a b'");
        assert_eq!(all.len(), 4);
        assert_eq!(
            of(&seen("/dev/sda", PathKind::Device, None)),
            [
                "iotax run randread-4k /dev/sda --set depth=2",
                "iotax limits /dev/sda",
                "iotax compare -w randread-4k a=/dev/sda b=/else"
            ]
        );
        let old = PathSeen { kind: None, ..seen("/dev/sda", PathKind::Device, None) };
        assert_eq!(of(&old).len(), 3);
    }

    #[test]
    fn what_cannot_be_written_is_left_for_its_directory() {
        let large =
            PathSeen { size_bytes: Some(LEAST_BYTES), ..seen("/m/f", PathKind::File, Some("/m")) };
        assert_eq!(
            of(&large),
            [
                "iotax run randread-4k /m/f --set depth=2",
                "iotax limits /m/f",
                "iotax run seqwrite-1m /m",
                "iotax compare -w randread-4k a=/m/f b=/else"
            ]
        );
        for small in [PathKind::File, PathKind::Other] {
            let said = of(&seen("-f", small, Some("-here")));
            assert_eq!(said[0], "iotax run randread-4k ./-here --set depth=2");
            assert_eq!(said.len(), 4);
        }
    }

    #[test]
    fn where_no_file_can_be_made_the_device_below_is_read() {
        let said = of(&seen("/ro", PathKind::Directory, None));
        assert_eq!(
            said,
            [
                "iotax run randread-4k /dev/sda --set depth=2",
                "iotax limits /dev/sda",
                "iotax compare -w randread-4k a=/dev/sda b=/else"
            ]
        );
    }

    #[test]
    fn a_name_that_is_no_text_is_in_no_command() {
        let shell = Some(r"$'a\377'".to_owned());
        let path = PathSeen { shell, ..seen("a\u{fffd}", PathKind::Device, None) };
        assert_eq!(of(&path), [""; 0]);
        let shell = Some("$'a'; reboot '".to_owned());
        let path = PathSeen { shell, ..seen("a", PathKind::Directory, Some("a")) };
        assert_eq!(of(&path), [""; 0], "from somebody else's file");
        let shell = Some(r"$'-a\012b'".to_owned());
        let path = PathSeen { shell, ..seen("-a\nb", PathKind::Directory, Some("-a\nb")) };
        assert_eq!(of(&path)[1], r"iotax limits ./$'-a\012b'");
    }
}
