//! What iotax can answer here: printed by `iotax` without arguments.

use iotax_record::CloudInstance;

/// What is known of this machine without measuring anything.
#[derive(Debug, Default)]
pub struct StartFacts {
    /// Directories on different disks, where this user can write; the most useful first.
    pub disks: Vec<String>,
    pub instance: Option<CloudInstance>,
    /// Whether there is a configuration of Kubernetes.
    pub has_cluster: bool,
    /// Whether this build can use it.
    pub knows_clusters: bool,
}

/// At most 12 lines.
pub fn lines(facts: &StartFacts) -> String {
    let disk = facts.disks.first().map_or("", String::as_str);
    let place = |command: &str| format!("{command} {disk}").trim_end().to_owned();
    let (a, b) = match facts.disks.as_slice() {
        [a, b, ..] => (a.as_str(), b.as_str()),
        _ => ("DIR", "DIR"),
    };
    let caps = match &facts.instance {
        Some(instance) => format!("Is {} at its limits?", instance.vm),
        None => "What caps this disk, and at what rate?".to_owned(),
    };
    let some_place = if disk.is_empty() { "." } else { disk };
    let mut questions = vec![
        ("Is this disk fast and healthy?".to_owned(), place("iotax check")),
        ("What could make this disk slow?".to_owned(), place("iotax doctor")),
        (caps, format!("iotax limits --quick {some_place}")),
        ("What does double encryption cost?".to_owned(), "iotax peel".to_owned()),
        (
            "Which of two disks is slower?".to_owned(),
            format!("iotax compare randread-4k a={a} b={b}"),
        ),
        ("Is this disk fit for etcd?".to_owned(), format!("iotax run etcd-wal {some_place}")),
        ("How fast is the network to a host?".to_owned(), "iotax net ssh://HOST".to_owned()),
    ];
    if facts.has_cluster {
        let question = "Which storage class is slower?".to_owned();
        let command = if facts.knows_clusters {
            "iotax kube compare --help"
        } else {
            "requires a build with the kubernetes feature"
        };
        questions.push((question, command.to_owned()));
    }
    let width = questions.iter().map(|(question, _)| question.len()).max().unwrap_or(0);
    let line = |(question, command): &(String, String)| format!("  {question:width$}  {command}");
    let questions: Vec<String> = questions.iter().map(line).collect();
    let questions = questions.join("\n");
    format!(
        "iotax shows which part of your storage is slow, why, and how certain that is.\n\n{questions}\n\n\
         All commands: iotax --help. Workloads: iotax workloads. Layers: iotax layers."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fits_half_a_screen_whatever_is_known() {
        let bare = lines(&StartFacts::default());
        insta::assert_snapshot!(bare, @"
        iotax shows which part of your storage is slow, why, and how certain that is.

          Is this disk fast and healthy?          iotax check
          What could make this disk slow?         iotax doctor
          What caps this disk, and at what rate?  iotax limits --quick .
          What does double encryption cost?       iotax peel
          Which of two disks is slower?           iotax compare randread-4k a=DIR b=DIR
          Is this disk fit for etcd?              iotax run etcd-wal .
          How fast is the network to a host?      iotax net ssh://HOST

        All commands: iotax --help. Workloads: iotax workloads. Layers: iotax layers.
        ");
        let instance =
            CloudInstance { vm: "Standard_D16ds_v5".to_owned(), ..CloudInstance::default() };
        let all = lines(&StartFacts {
            disks: vec!["/data".to_owned(), "/".to_owned()],
            instance: Some(instance),
            has_cluster: true,
            knows_clusters: true,
        });
        insta::assert_snapshot!(all, @"
        iotax shows which part of your storage is slow, why, and how certain that is.

          Is this disk fast and healthy?       iotax check /data
          What could make this disk slow?      iotax doctor /data
          Is Standard_D16ds_v5 at its limits?  iotax limits --quick /data
          What does double encryption cost?    iotax peel
          Which of two disks is slower?        iotax compare randread-4k a=/data b=/
          Is this disk fit for etcd?           iotax run etcd-wal /data
          How fast is the network to a host?   iotax net ssh://HOST
          Which storage class is slower?       iotax kube compare --help

        All commands: iotax --help. Workloads: iotax workloads. Layers: iotax layers.
        ");
        for text in [bare, all] {
            assert!(
                text.lines().count() <= 12 && text.lines().all(|line| line.chars().count() <= 80)
            );
        }
    }
}
