//! Which VM this is, as the cloud tells: what targets are compared with where nobody named it.

use iotax_analyze::documented::named;
use iotax_record::CloudInstance;
use iotax_spec::{CloudChoice, Layer, Stack, Target};

use crate::args::DocumentedArgs;

/// The VM as the cloud tells, unless it was named or nobody is to be asked, or some target is not on
/// a disk of this machine: its limits are no matter to memory, which a comparison would not leave
/// out.
pub fn told<'a>(
    args: &DocumentedArgs,
    cloud: &CloudChoice,
    targets: impl IntoIterator<Item = &'a Target>,
) -> Option<CloudInstance> {
    if args.no_metadata || cloud.vm.is_some() || !targets.into_iter().all(is_on_disk) {
        return None;
    }
    match args.metadata_address {
        Some(address) => iotax_inspect::cloud_instance_at(address),
        None => iotax_inspect::cloud_instance(),
    }
}

fn is_on_disk(target: &Target) -> bool {
    match target {
        Target::Path(_) => true,
        Target::Stack(stack) => has_disk(stack),
        Target::Results(_) => false,
    }
}

fn has_disk(stack: &Stack) -> bool {
    match stack.layers.first() {
        Some(Layer::File { .. } | Layer::Dir { .. } | Layer::Dev { .. }) => true,
        Some(Layer::Vdisk { stack }) => has_disk(stack),
        _ => false,
    }
}

/// Names the VM to be compared with, if the catalog knows it and it goes with what the user named.
pub fn compare_with(cloud: &mut CloudChoice, instance: &CloudInstance, targets: usize) {
    cloud.vm = Some(instance.vm.clone());
    if named(cloud, targets).is_err() {
        cloud.vm = None;
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::{SocketAddr, TcpListener};
    use std::thread;

    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: DocumentedArgs,
        targets: Vec<String>,
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
        let vm = |arguments: &[&str]| {
            let always = ["x", "--metadata-address", &address];
            let Command { args, targets } = Command::parse_from(always.iter().chain(arguments));
            let targets: Vec<Target> = targets.iter().map(|t| Target::parse(t).unwrap()).collect();
            let cloud = crate::documented::choice(&args, targets.len()).unwrap();
            told(&args, &cloud, &targets).map(|told| told.vm)
        };
        let is_told = |arguments: &[&str]| vm(arguments).as_deref() == Some("Standard_DS1_v2");
        for on_disk in ["/", "file(size=1M) + aes", "file(path=/a, size=1M) + loop + ext4"] {
            assert!(is_told(&[on_disk]), "{on_disk}");
        }
        assert!(is_told(&["/a", "/b"]));
        assert_eq!(vm(&["/", "--no-metadata"]), None);
        assert_eq!(vm(&["/", "--vm", "Standard_DS2_v2"]), None);
        assert_eq!(vm(&["mem"]), None);
        assert_eq!(vm(&["/", "mem"]), None);
    }

    fn compared(vm: &str, disk: Option<&str>) -> Option<String> {
        let disks = disk.into_iter().map(str::to_owned).collect();
        let mut choice = CloudChoice { disks, ..CloudChoice::default() };
        let (cloud, vm) = ("a cloud".to_owned(), vm.to_owned());
        let instance = CloudInstance { cloud, vm, ..CloudInstance::default() };
        compare_with(&mut choice, &instance, 1);
        choice.vm
    }

    #[test]
    fn a_size_is_compared_with_if_it_is_known_and_fits() {
        assert_eq!(compared("Standard_DS1_v2", None).as_deref(), Some("Standard_DS1_v2"));
        assert_eq!(compared("Standard_DS1_v2", Some("P10")).as_deref(), Some("Standard_DS1_v2"));
        assert_eq!(compared("Standard_DS1_v2", Some("gp2:size=100G")), None);
        assert_eq!(compared("Standard_Unheard_Of", None), None);
    }
}
