//! Azure Instance Metadata Service.
//!
//! Source: <https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service>.

use iotax_record::{CloudDisk, CloudInstance};
use serde::Deserialize;
use ureq::http::Method;

use super::{Client, Header, word};

const HEADER: Header<'_> = Header { name: "Metadata", value: "true" };
/// The service version whose answers this module parses, and an older one that all services have.
const VERSION: &str = "2025-04-07";
const OLD_VERSION: &str = "2021-02-01";

/// Services that do not know this version list the newest ones that they support.
pub(super) fn ask(client: &Client) -> Option<CloudInstance> {
    let path = |version: &str| format!("/metadata/instance?api-version={version}");
    match client.answer(Method::GET, &path(VERSION), HEADER)? {
        Ok(text) => parse(&text),
        Err(refusal) => {
            let newest = newest_version(&refusal);
            let newest = newest.and_then(|version| client.get(&path(&version), HEADER));
            parse(&newest.or_else(|| client.get(&path(OLD_VERSION), HEADER))?)
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Refusal {
    newest_versions: Vec<String>,
}

/// `{"error":"Bad request...","newest-versions":["2020-10-01","2020-09-01"]}`
fn newest_version(text: &str) -> Option<String> {
    let Refusal { newest_versions } = serde_json::from_str(text).ok()?;
    // In this date format, larger means newer.
    newest_versions.iter().filter_map(|version| word(version)).max()
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
    #[serde(default)]
    security_profile: SecurityProfile,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SecurityProfile {
    encryption_at_host: Option<String>,
    security_type: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct StorageProfile {
    os_disk: Option<Disk>,
    data_disks: Vec<Disk>,
    resource_disk: Option<ResourceDisk>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ResourceDisk {
    /// In KiB.
    size: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Disk {
    name: Option<String>,
    lun: Option<String>,
    caching: Option<String>,
    /// Figures are text.
    #[serde(rename = "diskSizeGB")]
    size_gib: Option<String>,
    #[serde(rename = "managedDisk")]
    managed: Option<Managed>,
    #[serde(rename = "diffDiskSettings")]
    on_the_host: Option<DiffDiskSettings>,
    #[serde(rename = "encryptionSettings")]
    encryption: Option<EncryptionSettings>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DiffDiskSettings {
    option: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct EncryptionSettings {
    enabled: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Managed {
    storage_account_type: Option<String>,
    tier: Option<String>,
}

fn parse(text: &str) -> Option<CloudInstance> {
    let Instance { compute } = serde_json::from_str(text).ok()?;
    let StorageProfile { os_disk, data_disks, resource_disk } = compute.storage_profile;
    let temporary_kib = resource_disk.and_then(|disk| disk.size?.parse::<u64>().ok());
    let SecurityProfile { encryption_at_host, security_type } = compute.security_profile;
    let os_disk = os_disk.map(|os| CloudDisk { is_os: true, ..disk(os) });
    Some(CloudInstance {
        cloud: "Azure".to_owned(),
        vm: word(&compute.vm_size)?,
        region: compute.location.as_deref().and_then(word),
        disks: os_disk.into_iter().chain(data_disks.into_iter().map(disk)).collect(),
        encryption_at_host: encryption_at_host.as_deref().and_then(flag),
        security_type: security_type.as_deref().and_then(word),
        temporary_disk_bytes: temporary_kib.and_then(|size| size.checked_mul(1 << 10)),
    })
}

/// Missing values are empty texts there.
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
        is_os: false,
        is_ephemeral: disk.on_the_host.map(|host| host.option.as_deref() == Some("Local")),
        is_guest_encrypted: disk.encryption.and_then(|settings| flag(&settings.enabled?)),
        targets: Vec::new(),
    }
}

/// All values are texts; unknown ones are empty.
fn flag(text: &str) -> Option<bool> {
    text.to_ascii_lowercase().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::tests::ANSWER;

    #[test]
    fn the_size_and_its_disks_are_read() {
        let found = parse(ANSWER).unwrap();
        let vm = (found.cloud.as_str(), found.vm.as_str(), found.region.as_deref());
        assert_eq!(vm, ("Azure", "Standard_DS1_v2", Some("westeurope")));
        let os = CloudDisk {
            name: Some("os".to_owned()),
            caching: Some("ReadWrite".to_owned()),
            size_bytes: Some(30 << 30),
            is_os: true,
            ..CloudDisk::default()
        };
        let data = CloudDisk {
            name: Some("data-f".to_owned()),
            lun: Some(0),
            kind: Some("Premium_LRS".to_owned()),
            tier: None,
            caching: Some("ReadOnly".to_owned()),
            size_bytes: Some(128 << 30),
            ..CloudDisk::default()
        };
        assert_eq!(found.disks, [os, data]);
    }

    #[test]
    fn what_the_host_does_is_read() {
        let text = r#"{"compute":{"vmSize":"Standard_D8ads_v5","securityProfile":{
"encryptionAtHost":"true","secureBootEnabled":"true","securityType":"ConfidentialVM"},
"storageProfile":{"resourceDisk":{"size":"314572800"},"osDisk":{"diffDiskSettings":{"option":"Local"},
"encryptionSettings":{"enabled":"false"}},"dataDisks":[{"lun":"1","encryptionSettings":
{"enabled":"true"},"diffDiskSettings":{"option":""}}]}}}"#;
        let found = parse(text).unwrap();
        assert_eq!(found.encryption_at_host, Some(true));
        assert_eq!(found.security_type.as_deref(), Some("ConfidentialVM"));
        assert_eq!(found.temporary_disk_bytes, Some(300 << 30));
        let facts =
            found.disks.iter().map(|disk| (disk.is_os, disk.is_ephemeral, disk.is_guest_encrypted));
        let expected = [(true, Some(true), Some(false)), (false, Some(false), Some(true))];
        assert_eq!(facts.collect::<Vec<_>>(), expected);
        let found = parse(ANSWER).unwrap();
        assert_eq!((found.encryption_at_host, found.temporary_disk_bytes), (None, None));
    }

    #[test]
    fn the_newest_version_is_taken_from_a_refusal() {
        let text = r#"{"error":"x","newest-versions":["2024-03-15","2024-07-17","2023-11-15"]}"#;
        assert_eq!(newest_version(text).as_deref(), Some("2024-07-17"));
        for text in ["", "{}", r#"{"newest-versions":["a b"]}"#, r#"{"newest-versions":7}"#] {
            assert_eq!(newest_version(text), None, "{text}");
        }
    }

    #[test]
    fn other_answers_are_none() {
        let hostile = ANSWER.replace("Standard_DS1_v2", "Standard DS1\\u001b[31m");
        for text in ["", "{}", "[]", r#"{"compute":{"vmSize":""}}"#, &hostile, &ANSWER[..300]] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
