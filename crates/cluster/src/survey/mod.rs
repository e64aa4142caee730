//! What a cluster is like, read and never changed.
//!
//! | module | idea |
//! |---|---|
//! | `objects` | the objects it is read from: a cluster's, or a file's |
//! | `look` | asks a cluster for them; what may not be seen is said |
//! | `storage` | classes, volumes, claims |
//! | `nodes` | nodes |
//! | `network` | what makes the network between pods |

mod look;
mod network;
mod nodes;
mod objects;
mod storage;

use iotax_record::cluster::{CLUSTER_FORMAT, ClusterSeen};

pub(crate) use self::look::READS;
use self::look::look;
use self::objects::Objects;
use crate::connect::Cluster;
use crate::error::Error;

/// Looks at a cluster: at claims of one namespace, or of all. Whatever may not be seen is in
/// [`ClusterSeen::unseen`].
///
/// # Errors
/// If the cluster does not answer.
pub fn survey(cluster: &Cluster, namespace: Option<&str>) -> Result<ClusterSeen, Error> {
    Ok(described(&look(cluster, namespace)?))
}

/// The same from what `kubectl get -o json` has printed.
///
/// # Errors
/// If it is no JSON of objects.
pub fn survey_of_file(text: &str) -> Result<ClusterSeen, Error> {
    Ok(described(&Objects::read(text)?))
}

fn described(objects: &Objects) -> ClusterSeen {
    ClusterSeen {
        format: CLUSTER_FORMAT,
        namespace: objects.namespace.clone(),
        knows_classes: objects.knows_classes,
        classes: objects.classes.iter().map(storage::class).collect(),
        drivers: objects.drivers.iter().filter_map(|one| one.metadata.name.clone()).collect(),
        attributes: objects.attributes.iter().map(storage::attributes).collect(),
        nodes: nodes::nodes(objects),
        volumes: objects.volumes.iter().map(|one| storage::volume(one, objects)).collect(),
        claims: objects.claims.iter().map(|one| storage::claim(one, &objects.pods)).collect(),
        network: network::network(objects),
        unseen: objects.unseen.clone(),
    }
}
