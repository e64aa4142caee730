//! Network interfaces that encrypt, found without programs.

use std::fs;
use std::path::Path;

use crate::probe::OF_PLUGINS;

/// Names of the encrypting interfaces in the network namespace of sysfs: in a container, its own.
pub fn encrypting_interfaces() -> Vec<String> {
    encrypting(Path::new("/sys/class/net"))
}

/// WireGuard interfaces report their type. Plugins of Kubernetes are recognised by interface names.
fn encrypting(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<String> = entries
        .filter(|entry| {
            let told = fs::read_to_string(entry.path().join("uevent")).unwrap_or_default();
            let name = entry.file_name();
            told.lines().any(|line| line == "DEVTYPE=wireguard")
                || OF_PLUGINS.iter().any(|(of, _)| name == *of)
        })
        .filter_map(|entry| entry.file_name().into_string().ok())
        .map(|name| match OF_PLUGINS.iter().find(|(of, _)| *of == name) {
            Some((_, plugin)) => format!("{name} ({plugin})"),
            None => name,
        })
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wireguard_is_known_by_its_type_and_plugins_by_their_names() {
        let root = tempfile::tempdir().unwrap();
        for (name, uevent) in [
            ("wg7", "DEVTYPE=wireguard\nINTERFACE=wg7\n"),
            ("cilium_wg0", ""),
            ("eth0", "INTERFACE=eth0\n"),
            ("flannel.1", "DEVTYPE=vxlan\n"),
        ] {
            let of = root.path().join(name);
            fs::create_dir(&of).unwrap();
            fs::write(of.join("uevent"), uevent).unwrap();
        }
        assert_eq!(encrypting(root.path()), ["cilium_wg0 (Cilium)", "wg7"]);
        assert_eq!(encrypting(&root.path().join("none")), [""; 0]);
    }
}
