//! Finds out from the cloud which VM and disks this is, if the user does not name them.

use std::path::Path;

use iotax_catalog::{Caching, azure_disk_of};
use iotax_experiment::documented::named;
use iotax_experiment::layers::File;
use iotax_experiment::{Base, CloudChoice, DiskRole, Stack, Target};
use iotax_inspect::{DISK_LINKS, cloud_disk};
use iotax_record::machine::UsedAs;
use iotax_record::{CloudDisk, CloudInstance, HostRecord};

use crate::args::DocumentedArgs;

/// Adds the VM and disks that the user did not name, as the cloud shows them, and the role of each
/// disk. Returns what the cloud shows. `work_dir`: directory of files without a path.
pub(crate) fn complete<'a>(
    cloud: &mut CloudChoice,
    args: &DocumentedArgs,
    targets: impl IntoIterator<Item = &'a Target>,
    work_dir: &'a Path,
) -> Option<CloudInstance> {
    let places: Vec<_> = targets.into_iter().map(|target| place(target, work_dir)).collect();
    let mut instance = told(args, cloud, &places);
    let links = args.disk_links.as_deref().unwrap_or(Path::new(DISK_LINKS));
    // Disks that the user names take precedence.
    let is_open = cloud.disks.is_empty() && (cloud.vm.is_some() || instance.is_some());
    let used_as: Vec<_> = places
        .iter()
        .filter(|_| is_open)
        .map(|place| cloud_disk(existing((*place)?), links, instance.as_ref()))
        .collect();
    if let Some(instance) = &mut instance {
        attach(instance, &used_as);
        compare_with(cloud, instance, places.len());
    }
    if cloud.vm.is_some() && cloud.disks.is_empty() {
        cloud.roles = roles(&used_as, instance.as_ref());
    }
    instance
}

/// Adds what the cloud shows to the record of the host.
pub(crate) fn note(host: &mut HostRecord, told: Option<CloudInstance>) {
    if let Some(machine) = &mut host.machine {
        machine.cloud.clone_from(&told);
    }
    host.instance = told;
}

/// The VM as the cloud shows it. `None` if the user names it or forbids the question, or if some
/// target is not on a disk of this machine: limits do not apply to memory, but a comparison would
/// use them.
fn told(
    args: &DocumentedArgs,
    cloud: &CloudChoice,
    places: &[Option<&Path>],
) -> Option<CloudInstance> {
    if args.no_metadata || cloud.vm.is_some() || places.contains(&None) {
        return None;
    }
    match args.metadata_address {
        Some(address) => iotax_inspect::cloud_instance_at(address),
        None => iotax_inspect::cloud_instance(),
    }
}

/// Adds to each disk the targets that are on it.
fn attach(instance: &mut CloudInstance, used_as: &[Option<UsedAs>]) {
    for (at, used_as) in used_as.iter().enumerate() {
        let is_it = |disk: &&mut CloudDisk| match used_as {
            Some(UsedAs::Os) => disk.is_os,
            Some(UsedAs::Data { lun }) => lun.is_some() && disk.lun == *lun,
            Some(UsedAs::Temporary) | None => false,
        };
        if let Some(disk) = instance.disks.iter_mut().find(is_it) {
            disk.targets.push(at);
        }
    }
}

/// The roles of the disks under the targets; empty if all are data disks.
fn roles(used_as: &[Option<UsedAs>], instance: Option<&CloudInstance>) -> Vec<DiskRole> {
    let mut disks = instance.into_iter().flat_map(|instance| &instance.disks);
    let is_ephemeral = disks.any(|disk| disk.is_os && disk.is_ephemeral == Some(true));
    let role = |used_as: &Option<UsedAs>| match used_as {
        Some(UsedAs::Os) if is_ephemeral => DiskRole::EphemeralOs,
        Some(UsedAs::Os) => DiskRole::Os,
        Some(UsedAs::Temporary) => DiskRole::Temporary,
        Some(UsedAs::Data { .. }) | None => DiskRole::Data,
    };
    let roles: Vec<_> = used_as.iter().map(role).collect();
    if roles.iter().all(|role| *role == DiskRole::Data) { Vec::new() } else { roles }
}

/// The path of a target on a disk of this machine, if it has one.
fn place<'a>(target: &'a Target, work_dir: &'a Path) -> Option<&'a Path> {
    match target {
        Target::Path(path) => Some(path),
        // A simulated disk has the limits of the VM that it names.
        Target::Stack(_) if target.cloud().is_some() => None,
        Target::Stack(stack) => base(stack, work_dir),
        Target::Several(_) => None,
    }
}

fn base<'a>(stack: &'a Stack, work_dir: &'a Path) -> Option<&'a Path> {
    match stack.base()? {
        Base::File(File { path, .. }) => Some(path.as_deref().unwrap_or(work_dir)),
        Base::Directory(path) | Base::Device(path) => Some(path),
        Base::Disk(stack) => base(stack, work_dir),
        Base::Memory { .. } | Base::Server(_) | Base::Network => None,
    }
}

/// `path`, or its directory if it does not exist: a temporary file may already be gone.
fn existing(path: &Path) -> &Path {
    let parent = || path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if path.exists() { path } else { parent().unwrap_or(Path::new(".")) }
}

/// Adds the VM and its disks, if the catalog knows them and they fit what the user names.
fn compare_with(cloud: &mut CloudChoice, instance: &CloudInstance, targets: usize) {
    let disks = (0..targets).map(|at| {
        let disk = instance.disks.iter().find(|disk| disk.targets.contains(&at))?;
        catalog_name(disk, cloud.caching.is_some())
    });
    let vm = Some(instance.vm.clone());
    let with_vm = CloudChoice { vm, ..cloud.clone() };
    // Disks must be known for all targets, or for none.
    let with_disks = |choice: &CloudChoice, disks| CloudChoice { disks, ..choice.clone() };
    let disks = disks.collect::<Option<Vec<String>>>().filter(|disks| !disks.is_empty());
    let choices = match disks.filter(|_| cloud.disks.is_empty()) {
        Some(disks) => {
            let both = with_disks(&with_vm, disks.clone());
            let disks = with_disks(cloud, disks);
            vec![both, with_vm, disks]
        }
        None => vec![with_vm],
    };
    if let Some(known) = choices.into_iter().find(|choice| named(choice, targets).is_ok()) {
        *cloud = known;
    }
}

/// A name such as `P10:caching=readonly`. `None` for an ephemeral disk, whose kind is that of the
/// disk that it was copied from.
fn catalog_name(disk: &CloudDisk, says_caching: bool) -> Option<String> {
    if disk.is_ephemeral == Some(true) {
        return None;
    }
    let name = azure_disk_of(disk.kind.as_deref()?, disk.tier.as_deref(), disk.size_bytes?)?;
    let caching = disk.caching.as_deref().filter(|_| !says_caching).and_then(Caching::parse);
    let caching = match caching {
        None | Some(Caching::None) => return Some(name),
        Some(Caching::ReadOnly) => "readonly",
        Some(Caching::ReadWrite) => "readwrite",
    };
    let separator = if name.contains(':') { ',' } else { ':' };
    Some(format!("{name}{separator}caching={caching}"))
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

    /// A metadata service of Azure that knows only the size.
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
            let mut cloud = crate::resolve::documented::choice(&args, targets.len()).unwrap();
            complete(&mut cloud, &args, &targets, Path::new("/")).map(|told| told.vm)
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

    #[test]
    fn a_target_on_the_disk_of_the_system_is_known_without_metadata() {
        let role = |target: &str, more: &[&str]| {
            let here = ["x", "--no-metadata", "--disk-links", "/no/such/place", target];
            let Command { args, targets } = Command::parse_from(here.iter().chain(more));
            let targets: Vec<Target> = targets.iter().map(|t| Target::parse(t).unwrap()).collect();
            let mut cloud = crate::resolve::documented::choice(&args, targets.len()).unwrap();
            complete(&mut cloud, &args, &targets, Path::new("/"));
            cloud.roles
        };
        let vm = ["--vm", "Standard_DS1_v2"];
        let root = role("/", &vm);
        if root.is_empty() {
            return iotax_testing::skipped("no disk under /");
        }
        assert_eq!(root, [DiskRole::Os]);
        assert_eq!(role("file(size=1M) + aes", &vm), [DiskRole::Os]);
        assert_eq!(role("/", &[&vm[..], &["mem"]].concat()), [DiskRole::Os, DiskRole::Data]);
        for no_disk in ["mem", "/proc"] {
            assert_eq!(role(no_disk, &vm), [], "{no_disk}");
        }
        // Nothing is compared, or the user knows what it is.
        assert_eq!(role("/", &[]), []);
        assert_eq!(role("/", &[&vm[..], &["--disk", "P10"]].concat()), []);
    }

    #[test]
    fn an_ephemeral_os_disk_is_not_the_disk_that_it_was_copied_from() {
        let os = |is_ephemeral| CloudDisk {
            kind: Some("Premium_LRS".to_owned()),
            size_bytes: Some(30 << 30),
            is_os: true,
            is_ephemeral,
            ..CloudDisk::default()
        };
        let used_as = [Some(UsedAs::Os), Some(UsedAs::Temporary), None];
        let compared = |disk: CloudDisk| {
            let mut instance = CloudInstance {
                vm: "Standard_D2s_v3".to_owned(),
                disks: vec![disk],
                ..CloudInstance::default()
            };
            let mut cloud = CloudChoice::default();
            attach(&mut instance, &used_as);
            compare_with(&mut cloud, &instance, 1);
            (cloud.disks, roles(&used_as, Some(&instance)))
        };
        let rest = [DiskRole::Temporary, DiskRole::Data];
        let ephemeral = [&[DiskRole::EphemeralOs], &rest[..]].concat();
        assert_eq!(compared(os(Some(true))), (Vec::new(), ephemeral));
        let attached = [&[DiskRole::Os], &rest[..]].concat();
        assert_eq!(compared(os(None)), (vec!["P4".to_owned()], attached));
        assert_eq!(roles(&[None, Some(UsedAs::Data { lun: Some(0) })], None), []);
    }

    fn disks(kinds: &[(&str, &str, u64)], choice: CloudChoice) -> (CloudChoice, bool) {
        let disk = |(at, (kind, caching, gib)): (usize, &(&str, &str, u64))| CloudDisk {
            kind: Some((*kind).to_owned()),
            caching: Some((*caching).to_owned()),
            size_bytes: Some(gib << 30),
            targets: vec![at],
            ..CloudDisk::default()
        };
        let instance = CloudInstance {
            cloud: "Azure".to_owned(),
            vm: "Standard_DS2_v2".to_owned(),
            region: None,
            disks: kinds.iter().enumerate().map(disk).collect(),
            ..CloudInstance::default()
        };
        let mut choice = choice;
        compare_with(&mut choice, &instance, 2);
        let has_vm = choice.vm.is_some();
        (choice, has_vm)
    }

    #[test]
    fn disks_are_compared_with_if_all_are_known() {
        let two = [("Premium_LRS", "ReadOnly", 128), ("Premium_ZRS", "None", 500)];
        let found = disks(&two, CloudChoice::default());
        assert_eq!(found.0.disks, ["P10:caching=readonly", "P20:redundancy=zrs"]);
        assert!(found.1);
        let caching = Some("readwrite".to_owned());
        let said = disks(&two, CloudChoice { caching, ..CloudChoice::default() });
        assert_eq!(said.0.disks, ["P10", "P20:redundancy=zrs"]);
        // What is provisioned freely says nothing by its size.
        let unknown = disks(&[two[0], ("UltraSSD_LRS", "None", 64)], CloudChoice::default());
        assert_eq!((unknown.0.disks, unknown.1), (Vec::new(), true));
        let named = CloudChoice { disks: vec!["P30".to_owned()], ..CloudChoice::default() };
        assert_eq!(disks(&two, named).0.disks, ["P30"]);
    }
}
