//! Settings of a network card: `ethtool`, and sysfs if it shows the same interface.

use std::fs;
use std::path::{Path, PathBuf};

use iotax_record::machine::{Interface, Offloads, Ring, Unseen};

use super::super::programs::Programs;
use super::link::Hardware;
use crate::block::{file_name, names_in, number_in, text_in};

/// Fills in the facts from the card, or from its virtual equivalent.
pub(super) fn fill(
    interface: &mut Interface,
    hardware: &Hardware<'_>,
    programs: &Programs<'_>,
    unseen: &mut Vec<Unseen>,
) {
    let name = interface.name.clone();
    if let Some(told) = programs.output("ethtool", &["-k", &name]) {
        interface.offloads = offloads(&told);
    } else {
        let what = format!("offloads of {name}");
        unseen.push(Unseen { what, how: format!("needs ethtool: ethtool -k {name}") });
    }
    // Most virtual interfaces have none, so this is not reported as unseen.
    interface.ring = programs.output("ethtool", &["-g", &name]).and_then(|told| ring(&told));
    let Some(directory) = directory(&name, hardware) else {
        let what = format!("driver and speed of {name}");
        unseen.push(Unseen::new(
            what,
            "with the /sys of this network namespace mounted: iotax doctor",
        ));
        return;
    };
    let device = fs::canonicalize(directory.join("device/driver"));
    interface.driver = device.ok().and_then(|driver| file_name(&driver));
    // -1 means unknown; values that do not fit are unknown, too.
    interface.speed_mbit = number_in(&directory.join("speed")).filter(|speed| *speed > 0);
    let queues = directory.join("queues");
    interface.spread_by_software = spread(&queues);
    // The queues in use; netlink reports how many are possible.
    let is_receive = |name: &String| name.starts_with("rx-");
    let in_use = names_in(&queues).iter().filter(|name| is_receive(name)).count() as u64;
    interface.receive_queues = Some(in_use).filter(|count| *count > 0).or(interface.receive_queues);
}

/// The directory of the interface in sysfs, if sysfs shows this namespace.
fn directory(name: &str, hardware: &Hardware<'_>) -> Option<PathBuf> {
    let is_plain = !name.contains('/') && !name.starts_with('.');
    let directory = Path::new("/sys/class/net").join(name);
    let is_it = number_in(&directory.join("ifindex")) == Some(hardware.index)
        && match hardware.address {
            Some(address) => text_in(&directory.join("address")).as_deref() == Some(address),
            None => true,
        };
    (is_plain && is_it).then_some(directory)
}

/// `tcp-segmentation-offload: on`, `generic-receive-offload: off [fixed]`
fn offloads(told: &str) -> Offloads {
    let of = |name: &str| {
        let value = told.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':'));
        match value?.trim() {
            "off [fixed]" => None,
            value if value.starts_with("off") => Some(false),
            value if value.starts_with("on") => Some(true),
            _ => None,
        }
    };
    Offloads {
        tso: of("tcp-segmentation-offload"),
        gso: of("generic-segmentation-offload"),
        gro: of("generic-receive-offload"),
        tx_checksum: of("tx-checksumming"),
        rx_checksum: of("rx-checksumming"),
    }
}

/// The lines `RX:` and `TX:`; the first pair holds the maximums.
fn ring(told: &str) -> Option<Ring> {
    let of = |name: &str| -> Vec<u64> {
        let values = told.lines().filter_map(|line| line.strip_prefix(name));
        values.filter_map(|value| value.trim().parse().ok()).collect()
    };
    let (receive, transmit) = (of("RX:"), of("TX:"));
    let ring = Ring {
        receive: receive.get(1).copied(),
        most_receive: receive.first().copied(),
        transmit: transmit.get(1).copied(),
        most_transmit: transmit.first().copied(),
    };
    (ring.receive.is_some() || ring.transmit.is_some()).then_some(ring)
}

/// Whether one of the files `rx-*/rps_cpus` has a CPU.
fn spread(queues: &Path) -> Option<bool> {
    let masks = names_in(queues).into_iter().filter(|name| name.starts_with("rx-"));
    let masks: Vec<String> =
        masks.filter_map(|name| text_in(&queues.join(name).join("rps_cpus"))).collect();
    let has_cpu = |mask: &String| mask.contains(|c: char| c != '0' && c != ',');
    (!masks.is_empty()).then(|| masks.iter().any(has_cpu))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn offloads_are_on_off_or_cannot_be_had() {
        let told = "Features for eth0:\nrx-checksumming: on [fixed]\ntx-checksumming: on\n\
                    \ttx-checksum-ipv4: off [fixed]\ntcp-segmentation-offload: off\n\
                    generic-segmentation-offload: off [fixed]\n\
                    generic-receive-offload: off [requested on]\n";
        let expected = Offloads {
            tso: Some(false),
            gso: None,
            gro: Some(false),
            tx_checksum: Some(true),
            rx_checksum: Some(true),
        };
        assert_eq!(offloads(told), expected);
    }

    #[test]
    fn a_ring_has_a_size_and_the_most_there_can_be() {
        let told = "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\nRX Mini:\tn/a\n\
                    TX:\t\t1024\nCurrent hardware settings:\nRX:\t\t512\nRX Mini:\tn/a\nTX:\t\t256\n";
        let expected = Ring {
            receive: Some(512),
            most_receive: Some(4096),
            transmit: Some(256),
            most_transmit: Some(1024),
        };
        assert_eq!(ring(told), Some(expected));
        assert_eq!(ring("Ring parameters for lo:\n"), None);
    }

    #[test]
    fn another_namespaces_interface_is_not_this_one() {
        let of = |index, address| directory("lo", &Hardware { index, address });
        assert!(of(1, Some("00:00:00:00:00:00")).is_some());
        assert!(of(2, None).is_none() && of(1, Some("06:3b:1d:78:e0:3f")).is_none());
        assert!(directory("../net/lo", &Hardware { index: 1, address: None }).is_none());
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parsers_panic(text in ".*") {
            offloads(&text);
            ring(&format!("RX:{text}\nTX:{text}"));
        }
    }
}
