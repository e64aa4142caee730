//! What this machine tells before the search: the limits of its cgroups, and which VM it is.

use iotax_analyze::documented::named;
use iotax_record::CloudInstance;
use iotax_spec::{KnownLimit, Limits, LimitsTarget, Target};

use crate::args::LimitsArgs;

/// The limits of this process's cgroups on the disk under `target`, if it is a path.
pub fn cgroups(target: &Target, writes: bool) -> Vec<KnownLimit> {
    let Target::Path(path) = target else { return Vec::new() };
    let known = iotax_inspect::io_limits(path).into_iter().map(|limits| {
        let (iops, bw_bytes) = if writes {
            (limits.write_iops, limits.write_bw_bytes)
        } else {
            (limits.read_iops, limits.read_bw_bytes)
        };
        let of = limits.group.display().to_string();
        KnownLimit { scope: "cgroup".to_owned(), of, iops, bw_bytes }
    });
    known.filter(|limit| limit.iops.is_some() || limit.bw_bytes.is_some()).collect()
}

/// The VM as the cloud tells, unless it was named or nobody is to be asked. Its limits are no
/// matter to stacks of this process, which a comparison would not leave out.
pub fn instance(args: &LimitsArgs, limits: &Limits) -> Option<CloudInstance> {
    let is_path = |target: &LimitsTarget| matches!(target.arm.target, Target::Path(_));
    if args.no_metadata || limits.cloud.vm.is_some() || !limits.targets.iter().all(is_path) {
        return None;
    }
    match args.metadata_address {
        Some(address) => iotax_inspect::cloud_instance_at(address),
        None => iotax_inspect::cloud_instance(),
    }
}

/// Names the VM to be compared with, if the catalog knows it and it goes with what the user named.
pub fn compare_with(limits: &mut Limits, instance: &CloudInstance) {
    limits.cloud.vm = Some(instance.vm.clone());
    if named(&limits.cloud, limits.targets.len()).is_err() {
        limits.cloud.vm = None;
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::{SocketAddr, TcpListener};
    use std::thread;

    use clap::Parser;
    use iotax_spec::{Arm, CloudChoice};

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: LimitsArgs,
    }

    /// A metadata service of Azure that knows nothing but the size.
    fn azure() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut request = String::new();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                reader.read_line(&mut request).unwrap();
                let status = if request.starts_with("GET /metadata/") { 200 } else { 404 };
                let body = r#"{"compute":{"vmSize":"Standard_DS1_v2"}}"#;
                let length = body.len();
                let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n\r\n");
                let _ = stream.write_all((head + body).as_bytes());
                // A connection closed with the request unread would be reset.
                reader.lines().map_while(Result::ok).take_while(|line| !line.is_empty()).count();
            }
        });
        address
    }

    #[test]
    fn the_cloud_is_asked_where_that_makes_sense() {
        let address = azure().to_string();
        let told = |arguments: &[&str]| {
            let always = ["limits", "--metadata-address", &address];
            let args = Command::parse_from(always.iter().chain(arguments)).args;
            instance(&args, &crate::commands::limits::asked(&args).unwrap()).map(|told| told.vm)
        };
        assert_eq!(told(&["/"]).as_deref(), Some("Standard_DS1_v2"));
        assert_eq!(told(&["/", "--no-metadata"]), None);
        assert_eq!(told(&["/", "--vm", "Standard_DS2_v2"]), None);
        assert_eq!(told(&["mem"]), None);
        assert_eq!(told(&["/", "mem"]), None);
    }

    fn compared(vm: &str, disk: Option<&str>) -> Option<String> {
        let target = LimitsTarget {
            arm: Arm::new("a", Target::Path("/a".into())),
            span_bytes: 1 << 30,
            known: Vec::new(),
        };
        let mut limits = Limits {
            targets: vec![target],
            writes: false,
            quick: true,
            burst: None,
            cloud: CloudChoice {
                disks: disk.into_iter().map(str::to_owned).collect(),
                ..CloudChoice::default()
            },
            seed: 1,
        };
        let (cloud, vm) = ("a cloud".to_owned(), vm.to_owned());
        compare_with(&mut limits, &CloudInstance { cloud, vm, ..CloudInstance::default() });
        limits.cloud.vm
    }

    #[test]
    fn a_size_is_compared_with_if_it_is_known_and_fits() {
        assert_eq!(compared("Standard_DS1_v2", None).as_deref(), Some("Standard_DS1_v2"));
        assert_eq!(compared("Standard_DS1_v2", Some("P10")).as_deref(), Some("Standard_DS1_v2"));
        assert_eq!(compared("Standard_DS1_v2", Some("gp2:size=100G")), None);
        assert_eq!(compared("Standard_Unheard_Of", None), None);
    }

    #[test]
    fn stacks_are_free_of_this_process_s_groups() {
        let stack = Target::parse("mem(size=1M)").unwrap();
        assert_eq!(cgroups(&stack, false), []);
    }
}
