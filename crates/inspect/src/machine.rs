//! The machine an experiment runs on.

use std::hint::black_box;
use std::time::{Duration, Instant};
use std::{fs, thread};

use iotax_record::Environment;

use crate::block::line_of;
use crate::cgroup;

/// The record's description of this machine. Takes about 30 ms, for the memory speed.
pub fn environment() -> Environment {
    let cpuinfo = Cpuinfo::parse(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default());
    let os_release = fs::read_to_string("/etc/os-release")
        .or_else(|_| fs::read_to_string("/usr/lib/os-release"))
        .unwrap_or_default();
    let kernel: Vec<String> = ["ostype", "osrelease", "version"]
        .into_iter()
        .filter_map(|name| line_of(format!("/proc/sys/kernel/{name}")))
        .collect();
    Environment {
        host: line_of("/proc/sys/kernel/hostname"),
        os: parse_pretty_name(&os_release),
        kernel: (!kernel.is_empty()).then(|| kernel.join(" ")),
        cpu_model: cpuinfo.model.clone(),
        cpus: line_of("/sys/devices/system/cpu/online")
            .and_then(|text| parse_cpu_list(&text))
            .unwrap_or_else(usable_cpus),
        cpu_aes: cpuinfo.flags.as_deref().map(|flags| has_flag(flags, "aes")),
        cpu_governor: line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        memory_bytes: memory_line("MemTotal"),
        memory_copy_bytes_per_s: Some(memory_copy_bytes_per_s()),
        hypervisor: hypervisor(&cpuinfo),
        load_average: line_of("/proc/loadavg").and_then(|text| parse_load_average(&text)),
        cgroup_cpus: cgroup::cpu_limit(),
    }
}

/// The version of the running kernel: `6.1.0-18-amd64`.
pub fn kernel_release() -> Option<String> {
    line_of("/proc/sys/kernel/osrelease")
}

/// The size of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MachineSize {
    /// Page size in bytes.
    pub page_bytes: u64,
    pub memory_bytes: u64,
    /// CPUs that can ever be online.
    pub possible_cpus: u32,
}

/// The size of this machine.
pub fn machine_size() -> Option<MachineSize> {
    Some(MachineSize {
        page_bytes: u64::try_from(rustix::param::page_size()).ok()?,
        memory_bytes: memory_line("MemTotal")?,
        possible_cpus: parse_cpu_list(&line_of("/sys/devices/system/cpu/possible")?)?,
    })
}

/// Memory that is available without swapping, in bytes.
pub fn available_memory_bytes() -> Option<u64> {
    memory_line("MemAvailable")
}

fn memory_line(name: &str) -> Option<u64> {
    parse_meminfo(&fs::read_to_string("/proc/meminfo").ok()?, name)
}

fn usable_cpus() -> u32 {
    thread::available_parallelism().map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(u32::MAX))
}

/// The relevant lines of `/proc/cpuinfo`, for the first CPU.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Cpuinfo {
    model: Option<String>,
    /// Its features, separated by blanks.
    pub flags: Option<String>,
}

impl Cpuinfo {
    pub(crate) fn parse(text: &str) -> Self {
        let field = |names: &[&str]| {
            text.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                (names.contains(&name.trim()) && !value.trim().is_empty())
                    .then(|| value.trim().to_owned())
            })
        };
        // x86 has `model name` and `flags`. Arm has `Features`, and a model only as numbers of
        // implementer and part (0x41 is Arm Ltd, 0xd40 Neoverse V1).
        let arm = || {
            let (maker, part) = field(&["CPU implementer"]).zip(field(&["CPU part"]))?;
            Some(format!("Arm CPU, implementer {maker}, part {part}"))
        };
        Self {
            model: field(&["model name", "Model"]).or_else(arm),
            flags: field(&["flags", "Features"]),
        }
    }
}

pub(crate) fn has_flag(flags: &str, name: &str) -> bool {
    flags.split_whitespace().any(|flag| flag == name)
}

/// `PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"`, as os-release(5) describes it.
fn parse_pretty_name(os_release: &str) -> Option<String> {
    let value = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?.trim();
    let value = value.trim_matches(|quote| quote == '"' || quote == '\'');
    (!value.is_empty()).then(|| value.to_owned())
}

/// Bytes of the line `name:  123 kB`.
fn parse_meminfo(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kib: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

fn parse_load_average(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok().filter(|load: &f64| load.is_finite())
}

/// How many CPUs a list such as `0-3,8,10-11` names.
fn parse_cpu_list(text: &str) -> Option<u32> {
    text.trim().split(',').try_fold(0_u32, |sum, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        sum.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

/// The hypervisor of this machine: the CPU's own answer if it has one, and the firmware's.
fn hypervisor(cpuinfo: &Cpuinfo) -> Option<String> {
    let firmware: Vec<String> = ["sys_vendor", "product_name"]
        .into_iter()
        .filter_map(|name| line_of(format!("/sys/class/dmi/id/{name}")))
        .collect();
    let by_cpu = cpu_hypervisor()
        .or_else(|| line_of("/sys/hypervisor/type"))
        .or_else(|| named_by_firmware(&firmware.join(" ")).map(str::to_owned));
    let flagged = cpuinfo.flags.as_deref().is_some_and(|flags| has_flag(flags, "hypervisor"));
    by_cpu.or_else(|| flagged.then(|| "unknown".to_owned())).map(|name| {
        if firmware.is_empty() { name } else { format!("{name} ({})", firmware.join(", ")) }
    })
}

/// The signature in CPUID leaf `0x4000_0000`, which hypervisors agreed to leave free.
#[cfg(target_arch = "x86_64")]
fn cpu_hypervisor() -> Option<String> {
    use raw_cpuid::{CpuId, Hypervisor};
    let name = match CpuId::new().get_hypervisor_info()?.identify() {
        Hypervisor::KVM => "kvm",
        Hypervisor::VMware => "vmware",
        Hypervisor::HyperV => "hyper-v",
        Hypervisor::Xen => "xen",
        Hypervisor::QEMU => "qemu",
        Hypervisor::Bhyve => "bhyve",
        Hypervisor::QNX => "qnx",
        Hypervisor::ACRN => "acrn",
        Hypervisor::Unknown(..) => return None,
    };
    Some(name.to_owned())
}

#[cfg(not(target_arch = "x86_64"))]
fn cpu_hypervisor() -> Option<String> {
    None
}

/// Firmware strings that only virtual machines carry (as systemd-detect-virt knows them).
fn named_by_firmware(strings: &str) -> Option<&'static str> {
    const NAMES: [(&str, &str); 9] = [
        ("KVM", "kvm"),
        ("Amazon EC2", "amazon"),
        ("Google Compute Engine", "google"),
        ("QEMU", "qemu"),
        ("VMware", "vmware"),
        ("Virtual Machine", "hyper-v"),
        ("VirtualBox", "virtualbox"),
        ("Parallels", "parallels"),
        ("OpenStack", "openstack"),
    ];
    // EC2's bare-metal instances carry the vendor too, and their type ends in `.metal`.
    if strings.contains(".metal") {
        return None;
    }
    NAMES.iter().find(|(text, _)| strings.contains(text)).map(|(_, name)| *name)
}

// How fast one CPU copies memory: the bound above which a read speed is not believable.

/// Bytes of each of the two buffers: within every first-level cache, within most second-level
/// caches, and beyond most last-level caches of one CPU. The fastest size depends on the machine
/// (some use non-temporal stores for large copies), so the best one counts.
const BUFFER_BYTES: [usize; 3] = [8 << 10, 128 << 10, 16 << 20];

/// Time spent per buffer size, so that the whole measurement takes about 30 ms.
const BUDGET: Duration = Duration::from_millis(8);

/// Shortest stretch that is timed: long compared with the clock's own cost of some 30 ns.
const STRETCH: Duration = Duration::from_micros(100);

/// Speed of the fastest memory copy by one thread of this process, in bytes copied per second.
/// Takes about 30 ms.
///
/// It serves to question impossible results: a thread that reads "from a device" faster than this
/// cannot have moved the bytes. It is therefore the *largest* speed over several buffer sizes
/// (including copies within the cache) and several stretches. Disturbances only slow a copy down.
pub fn memory_copy_bytes_per_s() -> f64 {
    BUFFER_BYTES.into_iter().map(best_speed).fold(0.0, f64::max)
}

fn best_speed(bytes: usize) -> f64 {
    // Non-zero on both sides: freshly allocated zero pages would all map the same page.
    let source = vec![0x5a_u8; bytes];
    let mut target = vec![0xa5_u8; bytes];
    let started = Instant::now();
    let mut best = 0.0_f64;
    while started.elapsed() < BUDGET {
        let stretch = Instant::now();
        let mut copies = 0_u32;
        loop {
            target.copy_from_slice(black_box(&source));
            black_box(&mut target);
            copies += 1;
            let elapsed = stretch.elapsed();
            if elapsed >= STRETCH {
                let moved_bytes = bytes as f64 * f64::from(copies);
                best = best.max(moved_bytes / elapsed.as_secs_f64());
                break;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn x86_cpuinfo_names_model_and_flags() {
        let text = "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Intel(R) Xeon(R) CPU @ 2.80GHz\n\
                    flags\t\t: fpu aes hypervisor\n\nprocessor\t: 1\nmodel name\t: other\n";
        let cpu = Cpuinfo::parse(text);
        assert_eq!(cpu.model.as_deref(), Some("Intel(R) Xeon(R) CPU @ 2.80GHz"));
        assert!(has_flag(&cpu.flags.unwrap(), "aes"));
    }

    #[test]
    fn arm_cpuinfo_names_implementer_and_part() {
        let text = "processor\t: 0\nFeatures\t: fp asimd aes\nCPU implementer\t: 0x41\n\
                    CPU part\t: 0xd40\n";
        let cpu = Cpuinfo::parse(text);
        assert_eq!(cpu.model.as_deref(), Some("Arm CPU, implementer 0x41, part 0xd40"));
        assert_eq!(cpu.flags.as_deref(), Some("fp asimd aes"));
    }

    #[test]
    fn flags_are_whole_words() {
        assert!(!has_flag("vaes aesni", "aes"));
    }

    #[test]
    fn the_pretty_name_loses_its_quotes() {
        let text = "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
        assert_eq!(parse_pretty_name(text).unwrap(), "Debian GNU/Linux 12 (bookworm)");
        assert_eq!(parse_pretty_name("PRETTY_NAME='Alpine'").unwrap(), "Alpine");
        assert_eq!(parse_pretty_name("PRETTY_NAME=\"\""), None);
    }

    #[test]
    fn memory_is_in_bytes() {
        let text = "MemTotal:       24684092 kB\nMemTotalX: 1 kB\nMemAvailable:   23000000 kB\n";
        assert_eq!(parse_meminfo(text, "MemTotal"), Some(24_684_092 * 1024));
        assert_eq!(parse_meminfo(text, "MemAvailable"), Some(23_000_000 * 1024));
        assert_eq!(parse_meminfo(text, "SwapTotal"), None);
    }

    #[test]
    fn cpu_lists_are_counted() {
        assert_eq!(parse_cpu_list("0-3,8,10-11\n"), Some(7));
        assert_eq!(parse_cpu_list("0"), Some(1));
        assert_eq!(parse_cpu_list("3-1"), None);
        assert_eq!(parse_cpu_list(""), None);
    }

    #[test]
    fn the_first_load_average_is_over_one_minute() {
        assert_eq!(parse_load_average("0.52 0.58 0.59 1/300 1234\n"), Some(0.52));
    }

    #[test]
    fn firmware_names_virtual_machines_but_not_bare_metal() {
        assert_eq!(named_by_firmware("Microsoft Corporation Virtual Machine"), Some("hyper-v"));
        assert_eq!(named_by_firmware("Amazon EC2 c7g.xlarge"), Some("amazon"));
        assert_eq!(named_by_firmware("Amazon EC2 c7g.metal"), None);
        assert_eq!(named_by_firmware("Dell Inc. PowerEdge R640"), None);
    }

    #[test]
    fn this_machine_has_cpus_memory_and_a_kernel() {
        let machine = environment();
        assert!(machine.cpus >= 1);
        assert!(machine.memory_bytes.unwrap() > 1 << 20);
        assert!(machine.kernel.unwrap().starts_with("Linux"));
        assert!(available_memory_bytes().unwrap() <= machine.memory_bytes.unwrap());
    }

    proptest! {
        #[test]
        fn no_text_makes_a_parser_panic(text in ".*", list in "[0-9,-]*", kib in ".*") {
            Cpuinfo::parse(&text);
            parse_pretty_name(&text);
            parse_pretty_name(&format!("PRETTY_NAME={text}"));
            parse_load_average(&text);
            parse_cpu_list(&list);
            parse_meminfo(&text, "MemTotal");
            parse_meminfo(&format!("MemTotal:{kib} kB"), "MemTotal");
        }
    }

    #[test]
    fn memory_copies_at_a_speed_between_a_pocket_calculator_and_science_fiction() {
        let speed = memory_copy_bytes_per_s();
        assert!(speed > 50e6, "{speed} bytes/s is slower than any machine this runs on");
        assert!(speed < 10e12, "{speed} bytes/s: the copies were optimised away");
    }
}
