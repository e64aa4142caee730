//! Settings of the kernel and its modules: `/sys/module/*/parameters`, `/proc/sys`, `/proc/crypto`.

use std::fs;
use std::path::Path;

use iotax_record::machine::KernelSettings;

use crate::block::number_in;

/// The settings of a system with this root.
pub(super) fn settings(root: &Path) -> KernelSettings {
    let parameter = |module: &str, name: &str| {
        number_in(&root.join("sys/module").join(module).join("parameters").join(name))
    };
    let crypto = fs::read_to_string(root.join("proc/crypto")).unwrap_or_default();
    KernelSettings {
        nvme_timeout_s: parameter("nvme_core", "io_timeout"),
        nvme_sleep_latency_us: parameter("nvme_core", "default_ps_max_latency_us"),
        crypt_max_read_bytes: parameter("dm_crypt", "max_read_size"),
        crypt_max_write_bytes: parameter("dm_crypt", "max_write_size"),
        nfs_most_slots: number_in(&root.join("proc/sys/sunrpc/tcp_max_slot_table_entries")),
        nfs_session_slots: parameter("nfs", "max_session_slots"),
        xts_driver: preferred(&crypto, "xts(aes)"),
    }
}

/// The driver that the kernel takes for an algorithm: the one of highest priority. Algorithms are
/// blocks of lines `key : value`, and some are there only for others to be built on.
fn preferred(text: &str, algorithm: &str) -> Option<String> {
    let blocks = text.split("\n\n").filter_map(|block| {
        let value = |key: &str| {
            let pairs = block.lines().filter_map(|line| line.split_once(':'));
            pairs.map(|(key, value)| (key.trim(), value.trim())).find(|(name, _)| *name == key)
        };
        let is_it = value("name")?.1 == algorithm;
        let is_internal = value("internal").is_some_and(|(_, value)| value == "yes");
        let priority: i64 = value("priority")?.1.parse().ok()?;
        (is_it && !is_internal).then_some((priority, value("driver")?.1))
    });
    let best = blocks.max_by_key(|(priority, _)| *priority)?;
    Some(best.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CRYPTO: &str = "\
name         : xts(aes)
driver       : xts(ecb(aes-fixed-time))
priority     : 101
internal     : no

name         : xts(aes)
driver       : __xts-aes-aesni
priority     : 900
internal     : yes

name         : xts(aes)
driver       : xts-aes-vaes-avx512
priority     : 800
internal     : no

name         : cbc(aes)
driver       : cbc-aes-aesni
priority     : 999
internal     : no
";

    #[test]
    fn the_driver_of_highest_priority_that_can_be_used_is_preferred() {
        assert_eq!(preferred(CRYPTO, "xts(aes)").as_deref(), Some("xts-aes-vaes-avx512"));
        assert_eq!(preferred(CRYPTO, "gcm(aes)"), None);
    }

    #[test]
    fn settings_of_modules_that_are_there_are_read() {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("sys/module/nvme_core/parameters/io_timeout", "4294967295\n"),
            ("sys/module/dm_crypt/parameters/max_read_size", "0\n"),
            ("proc/sys/sunrpc/tcp_max_slot_table_entries", "65536\n"),
            ("proc/crypto", CRYPTO),
        ] {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let expected = KernelSettings {
            nvme_timeout_s: Some(4_294_967_295),
            crypt_max_read_bytes: Some(0),
            nfs_most_slots: Some(65536),
            xts_driver: Some("xts-aes-vaes-avx512".to_owned()),
            ..KernelSettings::default()
        };
        assert_eq!(settings(root.path()), expected);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".*", value in "[0-9a-z: \n]{0,40}") {
            preferred(&text, "xts(aes)");
            preferred(&format!("name: a\ndriver: {value}\npriority: {value}"), "a");
        }
    }
}
