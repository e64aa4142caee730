//! The metadata service of Azure, as far as the tests need it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;

/// A small VM, of which no disks are told.
pub(crate) const VM: &str = r#"{"compute":{"vmSize":"Standard_DS1_v2","location":"westeurope"}}"#;

/// Answers with `body` for as long as the test runs.
pub(crate) fn metadata_service(body: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let lines = lines.map_while(Result::ok).take_while(|line| !line.is_empty());
            let request: Vec<String> = lines.collect();
            let is_azure = request.iter().any(|line| line.eq_ignore_ascii_case("Metadata: true"));
            let status = if is_azure { 200 } else { 404 };
            let length = body.len();
            let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n\r\n");
            let _ = stream.write_all((head + body).as_bytes());
        }
    });
    address
}

/// The same with a data disk of 128 GiB.
pub(crate) const VM_WITH_DISK: &str = r#"{"compute":{"vmSize":"Standard_DS1_v2","location":"westeurope",
"storageProfile":{"osDisk":{"name":"os","diskSizeGB":"30"},"dataDisks":[{"name":"data","lun":"4",
"caching":"ReadOnly","diskSizeGB":"128","managedDisk":{"storageAccountType":"Premium_LRS"}}]}}}"#;

/// A VM whose OS disk is on its host.
pub(crate) const VM_ON_HOST: &str = r#"{"compute":{"vmSize":"Standard_D2s_v3","location":"westeurope",
"storageProfile":{"osDisk":{"name":"os","caching":"ReadOnly","diskSizeGB":"30",
"diffDiskSettings":{"option":"Local"},"managedDisk":{"storageAccountType":"Premium_LRS"}}}}}"#;

/// Makes `links/azure/NAME` in the directory as the cloud's agent does below `/dev/disk` for the
/// disk under it; false where there is none, as on tmpfs.
pub(crate) fn link(directory: &Path, name: &str) -> bool {
    let Some(disk) = disk_under(directory) else { return false };
    let link = directory.join("links/azure").join(name);
    // The target of the link has the name of the disk, and that is what counts.
    let node = directory.join("nodes").join(disk);
    for path in [&link, &node] {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
    }
    fs::write(&node, "").unwrap();
    symlink(node, link).unwrap();
    true
}

/// The whole disk, by the kernel's name.
fn disk_under(directory: &Path) -> Option<String> {
    let device = fs::metadata(directory).unwrap().dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let node = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    let whole = if node.join("partition").exists() { node.parent()? } else { &node };
    Some(whole.file_name()?.to_str()?.to_owned())
}
