//! Device mapper tables, from `dmsetup`. The kernel's own interface includes keys in them; the
//! program leaves keys out.
//!
//! The lines of each target are described in the kernel's
//! `Documentation/admin-guide/device-mapper/`.

use iotax_record::machine::{Crypt, Device, MappedTarget, Unseen};

use super::programs::Programs;

/// Used if the table has no size.
const SECTOR_BYTES: u32 = 512;
/// Types whose parameters contain nothing secret and are kept as they are.
const PLAIN_KINDS: [&str; 19] = [
    "linear", "striped", "mirror", "raid", "thin", "thin-pool", "snapshot", "snapshot-origin",
    "snapshot-merge", "cache", "writecache", "multipath", "verity", "zero", "error", "delay",
    "flakey", "era", "vdo",
];
/// Options of `integrity` that can have a key after the algorithm.
const KEYED_OPTIONS: [&str; 3] = ["internal_hash", "journal_crypt", "journal_mac"];

/// Reads the tables of those `devices` that have one, with one run for all.
pub(super) fn fill<'a>(
    devices: impl Iterator<Item = &'a mut Device>,
    programs: &Programs<'_>,
    unseen: &mut Vec<Unseen>,
) {
    let mut mapped: Vec<_> = devices.filter(|device| device.mapping.is_some()).collect();
    if mapped.is_empty() {
        return;
    }
    // Names in sysfs format.
    let tables = programs.output("dmsetup", &["table", "--manglename", "none"]);
    let versions = programs.output("dmsetup", &["targets"]).unwrap_or_default();
    for device in &mut mapped {
        let Some(mapping) = &mut device.mapping else { continue };
        let targets = table(tables.as_deref().unwrap_or_default(), &mapping.name, &versions);
        if targets.is_empty() {
            let what = format!("the device-mapper table of {} ({})", device.name, mapping.name);
            unseen.push(Unseen::new(what, format!("as root: dmsetup table {}", mapping.name)));
        } else {
            mapping.targets = Some(targets);
        }
    }
}

/// The lines `NAME: START LENGTH KIND PARAMETERS` of one device.
fn table(text: &str, name: &str, versions: &str) -> Vec<MappedTarget> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    lines.filter_map(|line| target(line, versions)).collect()
}

fn target(line: &str, versions: &str) -> Option<MappedTarget> {
    let mut words = line.split_ascii_whitespace();
    let _start: u64 = words.next()?.parse().ok()?;
    let _length: u64 = words.next()?.parse().ok()?;
    let kind = words.next()?;
    let words: Vec<&str> = words.collect();
    let parameters = match kind {
        "integrity" => words.iter().map(|word| without_key(word)).collect::<Vec<_>>().join(" "),
        kind if PLAIN_KINDS.contains(&kind) => words.join(" "),
        _ => String::new(),
    };
    let crypt = if kind == "crypt" { crypt(&words) } else { None };
    Some(MappedTarget {
        kind: kind.to_owned(),
        version: version(versions, kind),
        parameters,
        crypt,
    })
}

/// `CIPHER KEY IV-OFFSET DEVICE START [COUNT OPTION...]`
fn crypt(words: &[&str]) -> Option<Crypt> {
    let [cipher, _key, iv_offset, _device, start, options @ ..] = words else { return None };
    // In any other format, a key could be anywhere.
    let _: (u64, u64) = (iv_offset.parse().ok()?, start.parse().ok()?);
    let mut crypt =
        Crypt { cipher: (*cipher).to_owned(), sector_bytes: SECTOR_BYTES, ..Crypt::default() };
    for option in options.iter().skip(1) {
        match option.split_once(':') {
            Some(("sector_size", bytes)) => {
                crypt.sector_bytes = bytes.parse().unwrap_or(SECTOR_BYTES);
            }
            Some(("integrity", how)) => crypt.integrity = Some(how.to_owned()),
            // None of the other options with a value is a flag.
            Some(_) => {}
            None => crypt.flags.push((*option).to_owned()),
        }
    }
    Some(crypt)
}

/// `internal_hash:hmac(sha256):KEY` without the key.
fn without_key(option: &str) -> String {
    match option.split_once(':') {
        Some((name, value)) if KEYED_OPTIONS.contains(&name) => {
            let algorithm = value.split(':').next().unwrap_or_default();
            format!("{name}:{algorithm}")
        }
        _ => option.to_owned(),
    }
}

/// `crypt            v1.24.0`
fn version(versions: &str, kind: &str) -> Option<String> {
    versions.lines().find_map(|line| {
        let (name, version) = line.split_once(char::is_whitespace)?;
        (name == kind).then(|| version.trim().trim_start_matches('v').to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::scripts::{PATIENT, with};
    use iotax_record::machine::Mapping;
    use proptest::prelude::*;

    const TABLES: &str = "\
vg-data: 0 8192 linear 253:0 2048
vg-data: 8192 8192 striped 2 128 253:0 0 253:1 0
luks-1: 0 204800 crypt aes-xts-plain64 :64:logon:cryptsetup:ab-d0 0 8:0 32768 3 allow_discards no_read_workqueue sector_size:4096
old: 0 204800 crypt aes-cbc-essiv:sha256 00112233445566778899aabbccddeeff 0 8:16 4096
aead: 0 8 crypt capi:authenc(hmac(sha256),xts(aes))-random ffee 0 253:2 0 2 integrity:28:aead integrity_key_size:32
below: 0 8 integrity 8:16 0 28 J 3 interleave_sectors:32768 internal_hash:hmac(sha256):c0ffee journal_mac:hmac(sha256):c0ffee
strange: 0 8 crypt c0ffee
other: 0 8 default-key c0ffee 0 8:16 0
";
    const VERSIONS: &str =
        "striped          v1.6.0\nlinear           v1.4.0\ncrypt            v1.24.0\n";

    fn of(name: &str) -> Vec<MappedTarget> {
        table(TABLES, name, VERSIONS)
    }

    #[test]
    fn lines_of_one_device_are_its_targets() {
        let [linear, striped] = &of("vg-data")[..] else { panic!("{:?}", of("vg-data")) };
        assert_eq!((linear.kind.as_str(), linear.parameters.as_str()), ("linear", "253:0 2048"));
        assert_eq!(linear.version.as_deref(), Some("1.4.0"));
        assert_eq!(striped.parameters, "2 128 253:0 0 253:1 0");
        assert_eq!(of("vg"), []);
    }

    #[test]
    fn encryption_has_its_cipher_flags_and_sector() {
        let crypt = of("luks-1").remove(0).crypt.unwrap();
        assert_eq!((crypt.cipher.as_str(), crypt.sector_bytes), ("aes-xts-plain64", 4096));
        assert_eq!(crypt.flags, ["allow_discards", "no_read_workqueue"]);
        let crypt = of("old").remove(0).crypt.unwrap();
        assert_eq!((crypt.cipher.as_str(), crypt.sector_bytes), ("aes-cbc-essiv:sha256", 512));
        let crypt = of("aead").remove(0).crypt.unwrap();
        assert_eq!((crypt.integrity.as_deref(), crypt.flags.len()), (Some("28:aead"), 0));
    }

    #[test]
    fn no_key_is_kept() {
        let names = ["luks-1", "old", "aead", "below", "strange", "other"];
        let kept: Vec<_> = names.iter().flat_map(|name| of(name)).collect();
        assert_eq!(kept.len(), names.len());
        let kept = format!("{kept:?}");
        for key in ["logon", "ab-d0", "001122", "ffee"] {
            assert!(!kept.contains(key), "{kept}");
        }
        assert!(kept.contains("internal_hash:hmac(sha256)"), "{kept}");
    }

    fn filled(programs: &Programs<'_>) -> (Option<Vec<MappedTarget>>, Vec<Unseen>) {
        let mapping = Mapping { name: "luks-1".to_owned(), ..Mapping::default() };
        let mut device = Device { name: "dm-0".to_owned(), ..Device::default() };
        device.mapping = Some(mapping);
        let mut unseen = Vec::new();
        fill([&mut device].into_iter(), programs, &mut unseen);
        (device.mapping.unwrap().targets, unseen)
    }

    #[test]
    fn tables_come_from_the_program_and_without_it_are_unseen() {
        let script = format!(
            "case $1 in table) cat <<'E'\n{TABLES}E\n;; targets) cat <<'E'\n{VERSIONS}E\n;; esac"
        );
        let directory = with("dmsetup", &script);
        let (targets, unseen) = filled(&Programs::new(&[directory.path().to_owned()], PATIENT));
        assert_eq!((targets, unseen.len()), (Some(of("luks-1")), 0));
        let (targets, unseen) = filled(&Programs::new(&[], PATIENT));
        assert_eq!(targets, None);
        assert_eq!(unseen[0].what, "the device-mapper table of dm-0 (luks-1)");
        assert_eq!(unseen[0].how, "as root: dmsetup table luks-1");
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parsers_panic(text in ".*", words in "[a-z0-9: ]{0,40}") {
            table(&text, "", &text);
            table(&format!("a: 0 8 crypt {words}"), "a", &words);
            table(&format!("a: 0 8 integrity {words}"), "a", &words);
        }

        #[test]
        fn whatever_stands_in_the_place_of_a_key_is_left_away(key in "[a-z0-9:]{12,40}") {
            let line = format!("a: 0 8 crypt aes-xts-plain64 {key} 0 8:0 0 1 allow_discards");
            let kept = format!("{:?}", table(&line, "a", ""));
            prop_assert!(!kept.contains(&key));
        }
    }
}
