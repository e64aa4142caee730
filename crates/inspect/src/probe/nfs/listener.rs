//! What listens on a port of this machine: a proxy that an NFS mount sends its calls to.
//!
//! The kernel names the socket in `/proc/net/tcp`, and the process that has it open is found among
//! all; those of others show their files to root alone.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use iotax_record::machine::Listener;

/// The state of a socket that listens, as `/proc/net/tcp` has it.
const LISTENS: &str = "0A";
/// How long processes are looked at; a machine may have very many.
const LIMIT: Duration = Duration::from_millis(300);

/// The process that listens on this port of this machine's loopback.
pub(super) fn listener(proc: &Path, port: u16) -> Option<Listener> {
    let text = |name: &str| fs::read_to_string(proc.join("net").join(name)).unwrap_or_default();
    let sockets: Vec<u64> =
        ["tcp", "tcp6"].iter().flat_map(|name| listening(&text(name), port)).collect();
    let process = owner(proc, &sockets)?;
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    let up_s = fs::read_to_string(proc.join("uptime")).ok();
    let up_s = up_s.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    let ticks_per_s = rustix::param::clock_ticks_per_second().max(1);
    of_stat(&stat, up_s, ticks_per_s)
}

/// Inodes of the sockets that listen on a port.
///
/// ```text
///   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
///    0: 0100007F:4FA1 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 21345
/// ```
pub fn listening(text: &str, port: u16) -> Vec<u64> {
    let socket = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, local, _, state, _, _, _, _, _, inode, ..] = fields.as_slice() else { return None };
        let (_, local) = local.rsplit_once(':')?;
        let is_it = u16::from_str_radix(local, 16).ok()? == port && *state == LISTENS;
        // 0 is a socket of the kernel's own.
        inode.parse().ok().filter(|inode| is_it && *inode > 0)
    };
    text.lines().filter_map(socket).collect()
}

/// The directory of the process that has one of these sockets open.
fn owner(proc: &Path, sockets: &[u64]) -> Option<std::path::PathBuf> {
    if sockets.is_empty() {
        return None;
    }
    let names: Vec<_> = sockets.iter().map(|inode| format!("socket:[{inode}]")).collect();
    let until = Instant::now() + LIMIT;
    let is_process =
        |name: &std::ffi::OsStr| name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    let processes =
        fs::read_dir(proc).ok()?.flatten().filter(|entry| is_process(&entry.file_name()));
    for process in processes.take_while(|_| Instant::now() < until) {
        let files = fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
        let has_it = |file: fs::DirEntry| {
            fs::read_link(file.path())
                .is_ok_and(|to| names.iter().any(|name| to.as_os_str() == &**name))
        };
        if files.take_while(|_| Instant::now() < until).any(has_it) {
            return Some(process.path());
        }
    }
    None
}

/// Name, threads and CPU time of `/proc/PID/stat`, described in proc(5).
fn of_stat(stat: &str, up_s: Option<f64>, ticks_per_s: u64) -> Option<Listener> {
    // The name may have blanks and brackets in it.
    let (before, after) = stat.rsplit_once(')')?;
    let (_, program) = before.split_once('(')?;
    // From the third field on.
    let fields: Vec<&str> = after.split_ascii_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let ms = |ticks: u64| ticks.saturating_mul(1_000) / ticks_per_s;
    let began_s = field(22).map(|ticks| ticks as f64 / ticks_per_s as f64);
    let age = up_s.zip(began_s).map(|(up, began)| (up - began).max(0.0));
    let age = age.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    Some(Listener {
        program: program.to_owned(),
        threads: field(20),
        cpu_ms: field(14).zip(field(15)).map(|(user, system)| ms(user.saturating_add(system))),
        age_ms: age.and_then(|age| u64::try_from(age.as_millis()).ok()),
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_socket_listens_on_its_port_alone() {
        let text = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:4FA1 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 21345 1 0 100 0
   1: 0100007F:4FA1 0100007F:0801 01 00000000:00000000 00:00000000 00000000     0        0 21346 1 0 20 4
   2: 0100007F:0801 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 0 1 0 100 0
";
        assert_eq!(listening(text, 20385), [21345]);
        assert_eq!(listening(text, 2049), [0; 0], "the kernel's own");
        let six = "0: 00000000000000000000000001000000:4FA1 00000000000000000000000000000000:0000 0A \
                   00000000:00000000 00:00000000 00000000 0 0 77";
        assert_eq!(listening(six, 20385), [77]);
    }

    #[test]
    fn this_process_is_found_by_its_own_socket() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let found = listener(Path::new("/proc"), port).unwrap();
        assert!(!found.program.is_empty());
        assert!(found.threads >= Some(1) && found.cpu_ms.is_some() && found.age_ms.is_some());
        drop(socket);
        assert_eq!(listener(Path::new("/proc"), port), None);
    }

    #[test]
    fn a_stat_tells_threads_and_cpu_time() {
        let stat = "4112 (efs proxy) (x)) S 1 4112 4112 0 -1 4194560 1 2 3 4 1500 500 0 0 20 0 5 0 10000 9 9";
        let found = of_stat(stat, Some(200.0), 100).unwrap();
        let expected = Listener {
            program: "efs proxy) (x)".to_owned(),
            threads: Some(5),
            cpu_ms: Some(20_000),
            age_ms: Some(100_000),
        };
        assert_eq!(found, expected);
        assert_eq!(of_stat("x", None, 100), None);
        assert_eq!(of_stat("1 (a) S", None, 100).unwrap().threads, None);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parsers_panic(text in ".*", line in r"[0-9A-F:\- a()]{0,120}") {
            listening(&text, 1);
            listening(&line, 0x0801);
            of_stat(&text, Some(1.0), 100);
            of_stat(&format!("1 ({line}) S {line}"), None, 100);
        }
    }
}
