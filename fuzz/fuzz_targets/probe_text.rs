//! What the kernel and the programs of ZFS print is read without a panic, whatever it is.
#![no_main]

use iotax_inspect::{listening, parse_mountinfo, vdevs};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let port = u16::try_from(text.len()).unwrap_or(u16::MAX);
    assert!(listening(text, port).iter().all(|inode| *inode > 0));
    let devices: u64 = vdevs(text, |_| None).iter().map(|vdev| vdev.devices).sum();
    assert!(devices <= text.lines().count() as u64);
    parse_mountinfo(text);
});
