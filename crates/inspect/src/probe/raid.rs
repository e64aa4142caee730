//! How a software RAID is doing: `/sys/block/mdN/md/`, described in the kernel's
//! `Documentation/admin-guide/md.rst`.

use std::path::Path;

use iotax_record::machine::RaidSeen;

use crate::block::{number_in, text_in};

/// Of the array with this directory in sysfs.
pub(super) fn raid(node: &Path) -> Option<RaidSeen> {
    let md = node.join("md");
    if !md.is_dir() {
        return None;
    }
    let number = |name: &str| number_in(&md.join(name));
    let text = |name: &str| text_in(&md.join(name));
    Some(RaidSeen {
        members: number("raid_disks"),
        missing: number("degraded"),
        action: text("sync_action"),
        bitmap: text("bitmap/location"),
        policy: text("consistency_policy"),
        stripe_cache: number("stripe_cache_size"),
        threads: number("group_thread_cnt"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn an_array_tells_what_it_does_and_lacks() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(raid(root.path()), None);
        let files = [
            ("raid_disks", "4\n"),
            ("degraded", "1\n"),
            ("sync_action", "recover\n"),
            ("bitmap/location", "+8\n"),
            ("stripe_cache_size", "256\n"),
            ("consistency_policy", "bitmap\n"),
        ];
        for (name, text) in files {
            let path = root.path().join("md").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let expected = RaidSeen {
            members: Some(4),
            missing: Some(1),
            action: Some("recover".to_owned()),
            bitmap: Some("+8".to_owned()),
            policy: Some("bitmap".to_owned()),
            stripe_cache: Some(256),
            threads: None,
        };
        assert_eq!(raid(root.path()), Some(expected));
    }
}
