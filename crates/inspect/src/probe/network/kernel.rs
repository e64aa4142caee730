//! Settings for all interfaces: the kernel's packet processing, connection tracking, TCP.

use std::fs;
use std::path::Path;

use iotax_record::machine::{Conntrack, EncryptingInterface, NetworkSeen, Softnet, TcpSettings};

use crate::block::{number_in, text_in};

/// The network facts of this process; `softnet` is the first reading.
pub(super) fn seen(
    softnet: Softnet,
    is_watched: bool,
    encrypting: Vec<EncryptingInterface>,
) -> NetworkSeen {
    let now = is_watched.then(self::softnet);
    let namespace = fs::read_link("/proc/self/ns/net").ok();
    NetworkSeen {
        namespace: namespace.map(|namespace| namespace.display().to_string()),
        encrypting,
        softnet_while_watched: now.map(|now| since(&now, &softnet)),
        softnet,
        conntrack: conntrack(Path::new("/proc")),
        tcp: tcp(Path::new("/proc/sys/net/ipv4")),
        kernel_wireguard: kernel_wireguard(),
    }
}

/// Reads `/proc/net/softnet_stat` now.
pub(super) fn softnet() -> Softnet {
    parse_softnet(&fs::read_to_string("/proc/self/net/softnet_stat").unwrap_or_default())
}

fn since(now: &Softnet, before: &Softnet) -> Softnet {
    let each = now.processed.iter().zip(&before.processed);
    Softnet {
        processed: each.map(|(now, before)| now.wrapping_sub(*before)).collect(),
        dropped: now.dropped.saturating_sub(before.dropped),
        time_squeeze: now.time_squeeze.saturating_sub(before.time_squeeze),
    }
}

/// A line of hexadecimal columns for each CPU: processed, dropped, `time_squeeze`, ...
fn parse_softnet(text: &str) -> Softnet {
    let mut all = Softnet::default();
    for line in text.lines() {
        let mut columns = line.split_ascii_whitespace();
        let mut column = || u64::from_str_radix(columns.next()?, 16).ok();
        let Some(processed) = column() else { continue };
        all.processed.push(processed);
        all.dropped += column().unwrap_or(0);
        all.time_squeeze += column().unwrap_or(0);
    }
    all
}

fn conntrack(proc: &Path) -> Option<Conntrack> {
    let directory = proc.join("sys/net/netfilter");
    let statistics = fs::read_to_string(proc.join("self/net/stat/nf_conntrack"));
    let statistics = statistics.unwrap_or_default();
    let sum = |name: &str| column_sum(&statistics, name);
    Some(Conntrack {
        count: number_in(&directory.join("nf_conntrack_count"))?,
        max: number_in(&directory.join("nf_conntrack_max"))?,
        insert_failed: sum("insert_failed"),
        dropped: sum("drop"),
        early_drop: sum("early_drop"),
    })
}

/// A header with column names, then a line of hexadecimal numbers for each CPU.
fn column_sum(text: &str, name: &str) -> u64 {
    let mut lines = text.lines();
    let head = lines.next().unwrap_or_default();
    let Some(at) = head.split_ascii_whitespace().position(|column| column == name) else {
        return 0;
    };
    let values = lines.filter_map(|line| line.split_ascii_whitespace().nth(at));
    values.filter_map(|value| u64::from_str_radix(value, 16).ok()).fold(0, u64::saturating_add)
}

fn tcp(directory: &Path) -> TcpSettings {
    let most = |name: &str| text_in(&directory.join(name))?.split(' ').nth(2)?.parse().ok();
    TcpSettings {
        congestion_control: text_in(&directory.join("tcp_congestion_control")),
        most_receive_bytes: most("tcp_rmem"),
        most_send_bytes: most("tcp_wmem"),
        mtu_probing: number_in(&directory.join("tcp_mtu_probing")),
        window_scaling: number_in(&directory.join("tcp_window_scaling")).map(|flag| flag != 0),
    }
}

/// Whether the kernel's WireGuard is loaded, built in, or available as a module.
fn kernel_wireguard() -> Option<bool> {
    if Path::new("/sys/module/wireguard").exists() {
        return Some(true);
    }
    let release = text_in(Path::new("/proc/sys/kernel/osrelease"))?;
    let modules = Path::new("/lib/modules").join(release);
    let lists =
        ["modules.builtin", "modules.dep"].map(|name| fs::read_to_string(modules.join(name)));
    let mut lists = lists.into_iter().flatten().peekable();
    // Without these lists, it can still be available.
    lists.peek()?;
    Some(lists.any(|list| list.contains("/wireguard.ko")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cpus_are_added_up() {
        let text = "04127e9c 00000000 00000008 00000000\n03a5aba9 000002df 00000007 00000000\n";
        let all = parse_softnet(text);
        assert_eq!(all.processed, [0x0412_7e9c, 0x03a5_aba9]);
        assert_eq!((all.dropped, all.time_squeeze), (735, 15));
        let later = Softnet { dropped: 740, ..all.clone() };
        assert_eq!(
            since(&later, &all),
            Softnet { processed: vec![0, 0], dropped: 5, time_squeeze: 0 }
        );
    }

    #[test]
    fn a_table_of_connections_is_read_where_there_is_one() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(conntrack(root.path()), None);
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("sys/net/netfilter/nf_conntrack_count", "250\n");
        write("sys/net/netfilter/nf_conntrack_max", "256\n");
        write(
            "self/net/stat/nf_conntrack",
            "entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop icmp_error\n\
             000000fa  00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000003 00000010 00000001 00000000\n\
             000000fa  00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000001 00000001 00000000 00000000\n",
        );
        let expected =
            Conntrack { count: 250, max: 256, insert_failed: 4, dropped: 17, early_drop: 1 };
        assert_eq!(conntrack(root.path()), Some(expected));
    }

    #[test]
    fn this_kernel_tells_its_settings() {
        let settings = tcp(Path::new("/proc/sys/net/ipv4"));
        assert!(settings.most_receive_bytes > Some(1 << 16), "{settings:?}");
        assert!(settings.congestion_control.is_some());
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parsers_panic(text in ".*", name in "[a-z]*") {
            parse_softnet(&text);
            column_sum(&text, &name);
            column_sum(&format!("{name}\n{text}"), &name);
        }
    }
}
