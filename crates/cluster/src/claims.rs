//! Claims as the cluster has them: those of the user, and the volumes of all.

use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use kube::api::ListParams;

use crate::connect::Cluster;
use crate::error::Error;
use crate::objects::PodOverrides;
use crate::place::Volume;

/// Refuses a claim of the user's that a pod of the run could not use, or only destroy.
///
/// # Errors
/// Those, and whatever keeps it from being seen.
pub(crate) fn refuse_unusable(
    cluster: &Cluster,
    volume: &Volume,
    overrides: &PodOverrides,
) -> Result<(), Error> {
    if let Some(field) = overrides.changing_files().filter(|_| volume.is_theirs()) {
        let why = format!(
            "spec.securityContext.{field} would change all files on {volume}, which are somebody's; \
             leave it out, and use supplementalGroups or --user"
        );
        return Err(Error::PodOverrides { why });
    }
    let Volume::Claim { namespace, name } = volume else { return Ok(()) };
    let own = cluster.namespace();
    if let Some(theirs) = namespace.as_ref().filter(|theirs| *theirs != own) {
        return Err(Error::OtherNamespace { namespace: own.to_owned(), theirs: theirs.clone() });
    }
    let Some(claim) = claim(cluster, name)? else {
        return Err(Error::NoClaim { claim: name.clone(), namespace: own.to_owned() });
    };
    match claim.spec.and_then(|spec| spec.volume_mode).as_deref() {
        Some("Block") => Err(Error::RawClaim { claim: name.clone() }),
        _ => Ok(()),
    }
}

/// What a claim is for, and what it got.
#[derive(Debug, Default)]
pub(crate) struct Claimed {
    pub(crate) volume: Option<String>,
    pub(crate) class: Option<String>,
}

/// Of a claim, as far as it may be seen.
pub(crate) fn claimed(cluster: &Cluster, name: &str) -> Claimed {
    let spec = claim(cluster, name).ok().flatten().and_then(|claim| claim.spec);
    spec.map_or_else(Claimed::default, |spec| Claimed {
        volume: spec.volume_name,
        class: spec.storage_class_name,
    })
}

fn claim(cluster: &Cluster, name: &str) -> Result<Option<PersistentVolumeClaim>, Error> {
    let which = ListParams::default().fields(&format!("metadata.name={name}"));
    Ok(cluster.list(&which)?.into_iter().next())
}
