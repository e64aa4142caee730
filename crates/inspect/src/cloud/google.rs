//! Google Compute Engine's metadata server.
//!
//! Source: <https://cloud.google.com/compute/docs/metadata/predefined-metadata-keys>.

use iotax_record::{CloudDisk, CloudInstance};
use serde::Deserialize;

use super::{Client, Header, word};

const HEADER: Header<'_> = Header { name: "Metadata-Flavor", value: "Google" };
const MACHINE_TYPE: &str = "/computeMetadata/v1/instance/machine-type";
const ZONE: &str = "/computeMetadata/v1/instance/zone";
const DISKS: &str = "/computeMetadata/v1/instance/disks/?recursive=true";

pub(super) fn ask(client: &Client) -> Option<CloudInstance> {
    let mut instance = parse(&client.get(MACHINE_TYPE, HEADER)?)?;
    instance.region = client.get(ZONE, HEADER).and_then(|zone| region(&zone));
    instance.disks = client.get(DISKS, HEADER).map(|text| disks(&text)).unwrap_or_default();
    Some(instance)
}

/// `projects/123/machineTypes/n2-standard-8`
fn parse(text: &str) -> Option<CloudInstance> {
    let (_, name) = text.trim().strip_prefix("projects/")?.split_once("/machineTypes/")?;
    let (cloud, vm) = ("Google Cloud".to_owned(), word(name)?);
    Some(CloudInstance { cloud, vm, ..CloudInstance::default() })
}

/// `projects/123/zones/europe-west1-b`: the last letter identifies the zone, the rest is the
/// region.
fn region(zone: &str) -> Option<String> {
    let (_, zone) = zone.trim().strip_prefix("projects/")?.split_once("/zones/")?;
    word(zone.rsplit_once('-')?.0)
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Disk {
    device_name: Option<String>,
    /// 0 is the boot disk.
    index: Option<u64>,
    r#type: Option<String>,
}

fn disks(text: &str) -> Vec<CloudDisk> {
    let disks: Vec<Disk> = serde_json::from_str(text).unwrap_or_default();
    let told = |text: Option<String>| text.as_deref().and_then(word);
    let disk = |disk: Disk| {
        let kind = told(disk.r#type);
        CloudDisk {
            name: told(disk.device_name),
            is_os: disk.index == Some(0),
            is_ephemeral: kind.as_deref().map(|kind| kind.starts_with("LOCAL-SSD")),
            kind,
            ..CloudDisk::default()
        }
    };
    disks.into_iter().map(disk).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_parts_of_resource_names_are_read() {
        let instance = parse("projects/123/machineTypes/n2-standard-8").unwrap();
        assert_eq!(
            (instance.cloud.as_str(), instance.vm.as_str()),
            ("Google Cloud", "n2-standard-8")
        );
        let zone = "projects/123/zones/europe-west1-b";
        assert_eq!(region(zone).as_deref(), Some("europe-west1"));
        let text = r#"[{"deviceName":"data","index":1,"mode":"READ_WRITE","type":"PERSISTENT-SSD"},
{"deviceName":"boot","index":0,"type":"PERSISTENT"},{"deviceName":"l","index":2,"type":"LOCAL-SSD"}]"#;
        let told = disks(text);
        assert_eq!(told[0].name.as_deref(), Some("data"));
        assert_eq!(told[0].kind.as_deref(), Some("PERSISTENT-SSD"));
        let facts = told.iter().map(|disk| (disk.is_os, disk.is_ephemeral));
        let expected = [(false, Some(false)), (true, Some(false)), (false, Some(true))];
        assert_eq!(facts.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn other_answers_are_none() {
        for text in ["", "n2-standard-8", "projects/1/machineTypes/", "projects/1/machineTypes/a b"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(region("projects/1/zones/nowhere"), None);
        assert!(disks("{}").is_empty());
    }
}
