//! What iotax never lets fio do: run programs, use a network, change the machine, or read and
//! write outside the target.
//!
//! fio does as it is told. A job file from elsewhere, run by a tool that promises to touch one
//! target only, must not be able to do more than that.

const PROGRAM: &str = "it runs a program";
const NETWORK: &str = "it uses the network";
const OUTSIDE: &str = "it reaches outside the target";
const MACHINE: &str = "it changes the machine";
const FOREIGN: &str = "it loads code into fio";

/// Options that are refused whatever their value.
const OPTIONS: &[(&str, &str)] = &[
    ("exec_prerun", PROGRAM),
    ("exec_postrun", PROGRAM),
    // Options of the engine `exec`.
    ("program", PROGRAM),
    ("arguments", PROGRAM),
    ("grace_time", PROGRAM),
    ("std_redirect", PROGRAM),
    // Of fio's command line.
    ("trigger", PROGRAM),
    ("trigger-file", OUTSIDE),
    ("trigger-remote", PROGRAM),
    ("client", NETWORK),
    ("server", NETWORK),
    ("daemonize", MACHINE),
    ("remote-config", NETWORK),
    ("output", OUTSIDE),
    ("aux-path", OUTSIDE),
    ("opendir", OUTSIDE),
    ("write_iolog", OUTSIDE),
    ("read_iolog", OUTSIDE),
    ("replay_redirect", OUTSIDE),
    ("merge_blktrace_file", OUTSIDE),
    ("donorname", OUTSIDE),
    ("ioscheduler", MACHINE),
    ("cgroup", MACHINE),
    ("cgroup_weight", MACHINE),
    ("allow_mounted_write", "it may destroy a file system that is in use"),
    ("verify_state_load", OUTSIDE),
];

/// Options that are refused where their value names a path.
const PATHS: &[&str] = &[
    "filename",
    "directory",
    "filename_format",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "write_hist_log",
    "mem",
    "iomem",
];

/// Options whose value in `'` quotes is the name of a file to read.
const PATTERNS: &[&str] = &["buffer_pattern", "verify_pattern"];

/// Engines that reach beyond a file or device on this machine, or drive one past the guard over
/// data that is in use.
const ENGINES: &[(&str, &str)] = &[
    ("exec", PROGRAM),
    ("net", NETWORK),
    ("netsplice", NETWORK),
    ("rdma", NETWORK),
    ("rados", NETWORK),
    ("rbd", NETWORK),
    ("http", NETWORK),
    ("nbd", NETWORK),
    ("nfs", NETWORK),
    ("dfs", NETWORK),
    ("gfapi", NETWORK),
    ("gfapi_async", NETWORK),
    ("libhdfs", NETWORK),
    ("libiscsi", NETWORK),
    ("librpma_apm_client", NETWORK),
    ("librpma_apm_server", NETWORK),
    ("librpma_gpspm_client", NETWORK),
    ("librpma_gpspm_server", NETWORK),
    ("ime_psync", NETWORK),
    ("ime_psyncv", NETWORK),
    ("ime_aio", NETWORK),
    ("e4defrag", OUTSIDE),
    ("libblkio", OUTSIDE),
    ("xnvme", OUTSIDE),
    ("io_uring_cmd", OUTSIDE),
    ("sg", OUTSIDE),
    ("mtd", OUTSIDE),
    ("libzbc", OUTSIDE),
    ("dev-dax", OUTSIDE),
    ("pmemblk", OUTSIDE),
    ("external", FOREIGN),
    ("dummy", FOREIGN),
];

/// Engines of fio that read and write the files they are given, and nothing else.
const PLAIN_ENGINES: [&str; 9] =
    ["sync", "psync", "vsync", "pvsync", "pvsync2", "io_uring", "libaio", "posixaio", "mmap"];

/// Options whose values are numbers or words, never a path, a program or an address.
const HARMLESS: [&str; 46] = [
    "allrandrepeat",
    "bs",
    "buffer_compress_chunk",
    "buffer_compress_percentage",
    "cpus_allowed_policy",
    "create_fsync",
    "create_on_open",
    "create_serialize",
    "dedupe_percentage",
    "fallocate",
    "file_service_type",
    "fill_device",
    "fixedbufs",
    "flow",
    "flow_sleep",
    "hipri",
    "io_submit_mode",
    "iodepth_batch",
    "iodepth_batch_complete_max",
    "iodepth_batch_complete_min",
    "iodepth_batch_submit",
    "iodepth_low",
    "latency_percentile",
    "latency_target",
    "latency_window",
    "nice",
    "nonvectored",
    "numa_cpu_nodes",
    "openfiles",
    "overwrite",
    "percentage_random",
    "prio",
    "prioclass",
    "random_generator",
    "rate_min",
    "refill_buffers",
    "registerfiles",
    "rw_sequencer",
    "scramble_buffers",
    "startdelay",
    "sync_file_range",
    "thinktime_spin",
    "zero_buffers",
    "zonemode",
    "zonesize",
    "zoneskip",
];

/// Why iotax does not let fio have this option; `None` where it may.
///
/// `name` is fio's first name of the option.
pub fn refused_by_driver(name: &str, value: &str) -> Option<&'static str> {
    if let Some((_, why)) = OPTIONS.iter().find(|(known, _)| *known == name) {
        return Some(why);
    }
    if name == "ioengine" {
        // `external:/path` and a bare path both load a shared object.
        let engine = value.split(':').next().unwrap_or(value).trim();
        let known = ENGINES.iter().find(|(known, _)| *known == engine).map(|(_, why)| *why);
        return known.or(value.contains('/').then_some(FOREIGN));
    }
    let is_path = PATHS.contains(&name) && (value.contains('/') || value.contains(".."));
    let reads_file = PATTERNS.contains(&name) && value.contains('\'');
    (is_path || reads_file).then_some(OUTSIDE)
}

/// Options whose values are numbers with `/` and `:` between them.
const SHARES: [&str; 2] = ["bssplit", "random_distribution"];

/// Whether iotax knows that an option stays inside the target: what a bundle, which runs without
/// iotax, may carry over.
///
/// `name` is fio's first name of the option.
pub fn stays_in_target(name: &str, value: &str) -> bool {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | ':' | ',' | '%');
    match name {
        "ioengine" => PLAIN_ENGINES.contains(&value),
        _ if SHARES.contains(&name) => value.chars().all(|c| plain(c) || c == '/'),
        _ => HARMLESS.contains(&name) && value.chars().all(plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for name in HARMLESS {
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
