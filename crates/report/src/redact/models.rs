//! Kernel releases, and models of processors and devices with a known family. An unknown rest is
//! cut off, or replaced by a pseudonym if models must be distinguished.

use std::sync::LazyLock;

use iotax_catalog::shingled;
use regex::Regex;

use super::grouped::grouped_numbers;
use super::words::regex;
use super::words::{Kind, Names};

/// Vendors and families of disks. Models that users can name, as with LIO targets, are not listed.
const DEVICES: &str = "adata amazon ata block corsair crucial dell disk drive elastic evo express flash \
    google hard harddisk hgst hitachi hp hpe hynix ibm intel kingston kioxia lenovo logical lsi \
    mega-raid megaraid micron msft netapp nvme nvme_card nvme_card-pd perc persistentdisk phison plus pro \
    qemu qvo raid samsung sandisk sas sata scsi seagate sk sn ssd store toshiba vbox virtio virtual \
    vmware volume wdc western digital xen instance storage microsoft direct optane";
/// Vendors and families of processors.
const PROCESSORS: &str = "@ a amazon altra amd ampere annapurna apple arm athlon atom bronze celeron \
    core core(tm) cortex cpu epyc genuine gold graviton graphics hygon ibm implementer intel intel(r) kunpeng \
    loongson m max neoverse opteron part pentium pentium(r) platinum power pro processor quad-core \
    radeon ryzen silver thunderx ultra virtual with xeon xeon(r) threadripper rome milan genoa icelake \
    skylake cascadelake sapphirerapids haswell broadwell common kvm qemu version";

/// `Linux 6.8.0-45-generic #1 SMP PREEMPT_DYNAMIC`, up to the first unknown part.
pub(super) fn kernel(names: &mut Names, text: &str) -> String {
    static KERNEL: LazyLock<Regex> = LazyLock::new(|| {
        let known = r"(?x) ^(?:Linux\ )?[1-9]\.\d{1,3}(?:\.\d{1,4})?
            (?P<build>-\d{1,6}(?:\.\d{1,4}){0,2})?
            (?:[-.+~](?:
                (?:el|fc|rc|amzn|arch|pve|wsl|WSL|deb|bpo)\d{1,4}(?:_\d{1,3}|uek|u\d)? |
                generic|amd64|arm64|armv8|aarch64|x86_64|ppc64le|riscv64|s390x|cloud|aws|azure|gcp|gke|
                oracle|kvm|virtual|default|lowlatency|rt|hwe|hardened|lts|zen|arch|linuxkit|flatcar|
                microsoft|standard|rpi|pve|uek|cos|edge|aks
            ))*
            (?:\ \#\d{1,4})?(?:\ (?:SMP|PREEMPT_DYNAMIC|PREEMPT_RT|PREEMPT))*";
        Regex::new(known).expect("a constant")
    });
    let Some(found) = KERNEL.captures(text) else { return names.always(Kind::Word, text) };
    // Four numbers in a row may be an address.
    let goes_on = |end: usize| {
        let mut rest = text[end..].bytes();
        matches!(rest.next(), Some(b'.' | b'-')) && rest.next().is_some_and(|b| b.is_ascii_digit())
    };
    match (found.get_match().end(), found.name("build")) {
        (end, _) if !goes_on(end) => text[..end].to_owned(),
        (_, Some(build)) => text[..build.start()].to_owned(),
        (_, None) => names.always(Kind::Word, text),
    }
}

/// `AMD EPYC 7B13 64-Core Processor`
pub(super) fn processor(names: &mut Names, text: &str) -> String {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(?:[A-Za-z]\d{1,2}-)?\d{1,4}[A-Z]{0,3}\d{0,2}[A-Z]? | v\d | [EMNV]\d | N\d | \d{1,3}-Core |
              Neoverse-[NVE]\d | Cortex-[AX]\d{1,3} | \d\.\d{1,2}GHz | 0x[0-9a-f]{2,3} | w\d-\d{4}[A-Z]{0,2}",
        )
    });
    family(names, text, |word| is_listed(PROCESSORS, word) || NUMBER.is_match(word))
}

/// `SAMSUNG MZQL2960HCJR-00A07`
pub(super) fn device(names: &mut Names, text: &str) -> String {
    static SERIES: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(?:MZ[1-9A-Z]|SSDP[EF]|SSDSC|MTFD|HUS|HFS|WDC|WDS|WUS|ST[1-9]|KX[DG]|KCD|KPM|THNS|SNV|SKC|CT[1-9]|PM\d|SM\d)[A-Z0-9]{1,16}
              (?:-[A-Z0-9]{1,8})? | \d{1,4}(?:[GT]B?)? | 0x[0-9a-f]{4} | [PS]\d{4}",
        )
    });
    let is_known =
        |word: &str| is_listed(DEVICES, word) || SERIES.is_match(word) || shingled(word).is_some();
    family(names, text, is_known)
}

/// The words up to the first unknown one, and a pseudonym for the rest.
fn family(names: &mut Names, text: &str, is_known: impl Fn(&str) -> bool) -> String {
    let mut known: Vec<String> = Vec::new();
    let mut rest = text.trim();
    // A family has single numbers.
    let number = grouped_numbers(rest).first().map_or(rest.len(), |number| number.start);
    while !rest.is_empty() {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        let is_number = text.trim().len() - rest.len() >= number;
        if !word.is_empty() && (is_number || !is_known(word)) {
            known.push(names.always(Kind::Model, rest));
            break;
        }
        known.push(word.to_owned());
        rest = after;
    }
    known.join(" ")
}

fn is_listed(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed.eq_ignore_ascii_case(word))
}
