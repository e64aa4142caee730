//! Azure Instance Metadata Service.
//!
//! Source: <https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service>.

use iotax_record::{CloudDisk, CloudInstance};
use serde::Deserialize;

use super::client::Client;
use super::word;

const PATH: &str = "/metadata/instance?api-version=2021-02-01";

pub(super) fn ask(client: &Client) -> Option<CloudInstance> {
    parse(&client.get(PATH, ("Metadata", "true"))?)
}

#[derive(Deserialize)]
struct Instance {
    compute: Compute,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Compute {
    vm_size: String,
    location: Option<String>,
    #[serde(default)]
    storage_profile: StorageProfile,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct StorageProfile {
    os_disk: Option<Disk>,
    data_disks: Vec<Disk>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Disk {
    name: Option<String>,
    lun: Option<String>,
    caching: Option<String>,
    /// Figures come as text.
    #[serde(rename = "diskSizeGB")]
    size_gib: Option<String>,
    #[serde(rename = "managedDisk")]
    managed: Option<Managed>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Managed {
    storage_account_type: Option<String>,
    tier: Option<String>,
}

fn parse(text: &str) -> Option<CloudInstance> {
    let Instance { compute } = serde_json::from_str(text).ok()?;
    let StorageProfile { os_disk, data_disks } = compute.storage_profile;
    Some(CloudInstance {
        cloud: "Azure".to_owned(),
        vm: word(&compute.vm_size)?,
        region: compute.location.as_deref().and_then(word),
        disks: os_disk.into_iter().chain(data_disks).map(disk).collect(),
    })
}

/// What is not told is an empty text there.
fn disk(disk: Disk) -> CloudDisk {
    const GIB: u64 = 1 << 30;
    let told = |text: Option<String>| text.as_deref().and_then(word);
    let managed = disk.managed.unwrap_or_default();
    let size_gib = disk.size_gib.and_then(|size| size.parse::<u64>().ok());
    CloudDisk {
        name: told(disk.name),
        lun: disk.lun.and_then(|lun| lun.parse().ok()),
        kind: told(managed.storage_account_type),
        tier: told(managed.tier),
        caching: told(disk.caching),
        size_bytes: size_gib.and_then(|size| size.checked_mul(GIB)),
        targets: Vec::new(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// As the service answers, cut to what matters and one field that is not read.
    pub(in crate::cloud) const ANSWER: &str = r#"{"compute":{"azEnvironment":"AzurePublicCloud",
"location":"westeurope","storageProfile":{"dataDisks":[{"bytesPerSecondThrottle":"979202048",
"caching":"ReadOnly","createOption":"Empty","diskCapacityBytes":"137438953472","diskSizeGB":"128",
"isSharedDisk":"false","isUltraDisk":"false","lun":"0","managedDisk":{"id":"/subscriptions/x",
"storageAccountType":"Premium_LRS"},"name":"data-f","opsPerSecondThrottle":"65280"}],
"osDisk":{"caching":"ReadWrite","diskSizeGB":"30","managedDisk":{"id":"",
"storageAccountType":""},"name":"os","osType":"Linux"}},"vmSize":"Standard_DS1_v2"},
"network":{"interface":[]}}"#;

    #[test]
    fn the_size_and_its_disks_are_read() {
        let found = parse(ANSWER).unwrap();
        let vm = (found.cloud.as_str(), found.vm.as_str(), found.region.as_deref());
        assert_eq!(vm, ("Azure", "Standard_DS1_v2", Some("westeurope")));
        let os = CloudDisk {
            name: Some("os".to_owned()),
            caching: Some("ReadWrite".to_owned()),
            size_bytes: Some(30 << 30),
            ..CloudDisk::default()
        };
        let data = CloudDisk {
            name: Some("data-f".to_owned()),
            lun: Some(0),
            kind: Some("Premium_LRS".to_owned()),
            tier: None,
            caching: Some("ReadOnly".to_owned()),
            size_bytes: Some(128 << 30),
            targets: Vec::new(),
        };
        assert_eq!(found.disks, [os, data]);
    }

    #[test]
    fn other_answers_are_none() {
        let hostile = ANSWER.replace("Standard_DS1_v2", "Standard DS1\\u001b[31m");
        for text in ["", "{}", "[]", r#"{"compute":{"vmSize":""}}"#, &hostile, &ANSWER[..300]] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
