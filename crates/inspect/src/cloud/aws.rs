//! AWS instance metadata, version 2: with a token.
//!
//! Source:
//! <https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html>

use iotax_record::CloudInstance;

use super::{Client, Header, word};

const TOKEN: &str = "/latest/api/token";
const KIND: &str = "/latest/meta-data/instance-type";
const REGION: &str = "/latest/meta-data/placement/region";

pub(super) fn ask(client: &Client) -> Option<CloudInstance> {
    let lives = Header { name: "X-aws-ec2-metadata-token-ttl-seconds", value: "60" };
    let token = client.put(TOKEN, lives)?;
    let header = Header { name: "X-aws-ec2-metadata-token", value: token.trim() };
    let kind = client.get(KIND, header)?;
    let region = client.get(REGION, header);
    parse(&kind, region.as_deref())
}

/// Types are a family and a size, `m5.large`. The service reports only the names of disks.
fn parse(kind: &str, region: Option<&str>) -> Option<CloudInstance> {
    let (family, size) = kind.trim().split_once('.')?;
    (!family.is_empty() && !size.is_empty()).then_some(())?;
    Some(CloudInstance {
        cloud: "AWS".to_owned(),
        vm: word(kind)?,
        region: region.and_then(word),
        ..CloudInstance::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_read_and_other_answers_are_none() {
        let instance = parse("m5.large\n", Some("eu-central-1")).unwrap();
        assert_eq!((instance.cloud.as_str(), instance.vm.as_str()), ("AWS", "m5.large"));
        assert_eq!(instance.region.as_deref(), Some("eu-central-1"));
        assert_eq!(parse("m7g.metal-48xl", Some("<html>")).unwrap().region, None);
        for text in ["", "m5", ".", "m5.", "<html>a.b</html>", &format!("m5.{}", "x".repeat(99))] {
            assert_eq!(parse(text, None), None, "{text}");
        }
    }
}
