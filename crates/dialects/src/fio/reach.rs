//! What iotax never lets fio do: run programs, use a network, change the machine, or read and write
//! outside the target.
//!
//! fio does whatever its options say. iotax promises to touch only one target, so a job file from
//! elsewhere must not be able to do more.

use super::options::{Reach, named};

const PROGRAM: &str = "it runs a program";
const NETWORK: &str = "it uses the network";
const OUTSIDE: &str = "it reaches outside the target";
const MACHINE: &str = "it changes the machine";
const FOREIGN: &str = "it loads code into fio";

/// Options of fio's command line, which jobs cannot have. Options of jobs have their own [`Reach`].
const OF_THE_PROGRAM: [(&str, &str); 9] = [
    ("trigger", PROGRAM),
    ("trigger-file", OUTSIDE),
    ("trigger-remote", PROGRAM),
    ("client", NETWORK),
    ("server", NETWORK),
    ("daemonize", MACHINE),
    ("remote-config", NETWORK),
    ("output", OUTSIDE),
    ("aux-path", OUTSIDE),
];

/// Engines that reach beyond a file or device on this machine, or that bypass the check for data in
/// use.
const ENGINES: [(&str, &str); 4] = [
    ("exec", PROGRAM),
    (
        "net netsplice rdma rados rbd http nbd nfs dfs gfapi gfapi_async libhdfs libiscsi \
         librpma_apm_client librpma_apm_server librpma_gpspm_client librpma_gpspm_server \
         ime_psync ime_psyncv ime_aio",
        NETWORK,
    ),
    ("e4defrag libblkio xnvme io_uring_cmd sg mtd libzbc dev-dax pmemblk", OUTSIDE),
    ("external dummy", FOREIGN),
];

/// Engines of fio that only read and write the files they are given.
const PLAIN_ENGINES: [&str; 9] =
    ["sync", "psync", "vsync", "pvsync", "pvsync2", "io_uring", "libaio", "posixaio", "mmap"];

/// Why iotax does not let fio use this option; `None` if it may.
///
/// `name` is fio's main name for the option.
pub fn refused_by_driver(name: &str, value: &str) -> Option<&'static str> {
    if name == "ioengine" {
        // `external:/path` and a bare path both load a shared library.
        let engine = value.split(':').next().unwrap_or(value).trim();
        let is_it = |names: &str| names.split(' ').any(|name| name == engine);
        let known = ENGINES.iter().find(|(names, _)| is_it(names)).map(|(_, why)| *why);
        return known.or(value.contains('/').then_some(FOREIGN));
    }
    if let Some((_, why)) = OF_THE_PROGRAM.iter().find(|(known, _)| *known == name) {
        return Some(why);
    }
    match named(name).next()?.reach {
        Reach::Refused(why) => Some(why),
        Reach::Path if value.contains('/') || value.contains("..") => Some(OUTSIDE),
        Reach::Pattern if value.contains('\'') => Some(OUTSIDE),
        _ => None,
    }
}

/// Whether iotax knows that an option stays inside the target. Only such options may be part of a
/// bundle, which runs without iotax.
///
/// `name` is fio's main name for the option.
pub fn stays_in_target(name: &str, value: &str) -> bool {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | ':' | ',' | '%');
    if name == "ioengine" {
        return PLAIN_ENGINES.contains(&value);
    }
    match named(name).next().map(|option| option.reach) {
        Some(Reach::Inside) => value.chars().all(plain),
        Some(Reach::Shares) => value.chars().all(|c| plain(c) || c == '/'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio::options::{OptionInfo, every};

    #[test]
    fn programs_networks_and_paths_are_refused() {
        for (name, value) in [
            ("exec_prerun", "rm -rf /"),
            ("ioengine", "exec"),
            ("ioengine", "net"),
            ("ioengine", "external:/tmp/engine.so"),
            ("ioengine", "/tmp/engine.so"),
            ("write_bw_log", "/etc/passwd"),
            ("write_bw_log", "../x"),
            ("mem", "mmap:/tmp/x"),
            ("buffer_pattern", "'/etc/shadow'"),
            ("ioscheduler", "none"),
        ] {
            assert!(refused_by_driver(name, value).is_some(), "{name}={value}");
        }
    }

    #[test]
    fn plain_options_pass() {
        for (name, value) in [
            ("ioengine", "libaio"),
            ("ioengine", "cpuio"),
            ("zonemode", "strided"),
            ("write_bw_log", "name"),
            ("mem", "mmaphuge"),
            ("buffer_pattern", "0xdeadbeef"),
            ("flow", "2"),
        ] {
            assert_eq!(refused_by_driver(name, value), None, "{name}={value}");
        }
    }

    #[test]
    fn what_a_bundle_carries_the_driver_lets_through() {
        for OptionInfo { name, .. } in every().filter(|option| option.reach == Reach::Inside) {
            assert!(stays_in_target(name, "1"));
            assert_eq!(refused_by_driver(name, "1"), None, "{name}");
            assert!(!stays_in_target(name, "../x"), "{name}");
        }
        for engine in PLAIN_ENGINES {
            assert!(stays_in_target("ioengine", engine));
            assert_eq!(refused_by_driver("ioengine", engine), None, "{engine}");
        }
        assert!(stays_in_target("bssplit", "4k/10:64k/90"));
        assert_eq!(refused_by_driver("bssplit", "4k/10:64k/90"), None);
        assert!(!stays_in_target("ioengine", "exec"));
        assert!(!stays_in_target("write_bw_log", "name"));
    }
}
