//! Asks a cluster for its objects. Objects that the account may not list are reported and left out.

use std::fmt::Debug;

use iotax_record::machine::Unseen;
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim};
use k8s_openapi::api::storage::v1::VolumeAttributesClass;
use k8s_openapi::{NamespaceResourceScope, Resource as _};
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, ListParams};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;

use super::{Objects, of_any_version};
use crate::connect::Cluster;
use crate::error::{Call, Error};

/// Objects per answer: large clusters have tens of thousands.
const PAGE: u32 = 500;

/// API group, resource, verbs: what a look at a cluster needs beyond a run's role. All of it is
/// optional.
pub(crate) const READS: [(&str, &str, &[&str]); 11] = [
    ("storage.k8s.io", "storageclasses", &["list"]),
    ("storage.k8s.io", "volumeattributesclasses", &["list"]),
    ("storage.k8s.io", "csidrivers", &["list"]),
    ("storage.k8s.io", "csinodes", &["list"]),
    ("storage.k8s.io", "volumeattachments", &["list"]),
    ("", "nodes", &["list"]),
    ("", "persistentvolumes", &["list"]),
    ("", "persistentvolumeclaims", &["list"]),
    ("", "pods", &["list"]),
    ("apps", "daemonsets", &["list"]),
    ("", "configmaps", &["get"]),
];

/// Places of settings of the network between pods.
const SETTINGS: [(&str, &str); 7] = [
    ("kube-system", "kube-proxy"),
    ("kube-system", "cilium-config"),
    ("kube-system", "calico-config"),
    ("kube-system", "canal-config"),
    ("kube-system", "antrea-config"),
    ("kube-system", "kube-flannel-cfg"),
    ("kube-flannel", "kube-flannel-cfg"),
];

/// Objects of one namespace, or of all. If only the connected namespace may be listed, those of it.
pub(super) fn look(cluster: &Cluster, namespace: Option<&str>) -> Result<Objects, Error> {
    let mut seen = Look { cluster, unseen: Vec::new() };
    let classes = seen.listed(&seen.everywhere(), "storageclasses")?;
    let mut objects = Objects { knows_classes: classes.is_some(), ..Objects::default() };
    objects.classes = classes.unwrap_or_default();
    objects.attributes = seen.attributes()?;
    objects.drivers = seen.all()?;
    objects.csi_nodes = seen.all()?;
    objects.attachments = seen.all()?;
    objects.nodes = seen.all()?;
    objects.volumes = seen.all()?;
    (objects.namespace, objects.claims) = seen.claims(namespace)?;
    objects.pods = seen.of_namespace(objects.namespace.as_deref())?;
    objects.sets = seen.of_namespace(None)?;
    objects.maps = seen.settings()?;
    objects.unseen = seen.unseen;
    Ok(objects)
}

struct Look<'a> {
    cluster: &'a Cluster,
    unseen: Vec<Unseen>,
}

/// The result of listing all objects of a kind.
enum Listing<K> {
    Objects(Vec<K>),
    /// The cluster has no such kind.
    Missing,
    Forbidden,
}

/// Kinds that can be listed.
trait Listed:
    Resource<DynamicType = ()> + k8s_openapi::Resource + Clone + DeserializeOwned + Debug
{
}
impl<K> Listed for K where
    K: Resource<DynamicType = ()> + k8s_openapi::Resource + Clone + DeserializeOwned + Debug
{
}

impl Look<'_> {
    fn everywhere<K: Listed>(&self) -> Api<K> {
        Api::all(self.cluster.client())
    }

    /// All objects of a kind, wherever they are.
    fn all<K: Listed>(&mut self) -> Result<Vec<K>, Error> {
        Ok(self.listed(&self.everywhere(), K::URL_PATH_SEGMENT)?.unwrap_or_default())
    }

    /// All objects in a namespace, or in every one.
    fn of_namespace<K>(&mut self, namespace: Option<&str>) -> Result<Vec<K>, Error>
    where
        K: Listed + Resource<Scope = NamespaceResourceScope>,
    {
        let Some(namespace) = namespace else { return self.all() };
        let api = Api::namespaced(self.cluster.client(), namespace);
        Ok(self.listed(&api, K::URL_PATH_SEGMENT)?.unwrap_or_default())
    }

    /// Claims, and the namespace that was searched.
    fn claims(
        &mut self,
        asked: Option<&str>,
    ) -> Result<(Option<String>, Vec<PersistentVolumeClaim>), Error> {
        if asked.is_none() {
            let resource = PersistentVolumeClaim::URL_PATH_SEGMENT;
            if let Some(claims) = self.listed(&self.everywhere(), resource)? {
                return Ok((None, claims));
            }
            if let Some(told) = self.unseen.last_mut() {
                "claims in other namespaces".clone_into(&mut told.what);
            }
        }
        let namespace = asked.unwrap_or(self.cluster.namespace()).to_owned();
        let claims = self.of_namespace(Some(&namespace))?;
        Ok((Some(namespace), claims))
    }

    /// The objects; `None`, with a note, if they may not be listed.
    fn listed<K: Clone + DeserializeOwned + Debug>(
        &mut self,
        api: &Api<K>,
        resource: &'static str,
    ) -> Result<Option<Vec<K>>, Error> {
        let listing = self.pages(api, resource)?;
        Ok(self.objects_of(listing, resource))
    }

    fn pages<K: Clone + DeserializeOwned + Debug>(
        &self,
        api: &Api<K>,
        resource: &'static str,
    ) -> Result<Listing<K>, Error> {
        let mut objects = Vec::new();
        let mut page = ListParams::default().limit(PAGE);
        loop {
            let list = match self.cluster.ask_of(Call::new("list", resource), api.list(&page)) {
                Ok(Some(list)) => list,
                Ok(None) => return Ok(Listing::Missing),
                Err(Error::Forbidden { .. }) => return Ok(Listing::Forbidden),
                Err(other) => return Err(other),
            };
            objects.extend(list.items);
            match list.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => page = page.continue_token(&token),
                None => return Ok(Listing::Objects(objects)),
            }
        }
    }

    fn objects_of<K>(&mut self, listing: Listing<K>, resource: &str) -> Option<Vec<K>> {
        let how = match listing {
            Listing::Objects(objects) => return Some(objects),
            Listing::Missing => format!("this cluster has no {resource}"),
            Listing::Forbidden => format!("not allowed to list {resource}"),
        };
        self.unseen.push(Unseen { what: resource.to_owned(), how });
        None
    }

    /// Classes of attributes, of the newest version that the cluster serves.
    fn attributes(&mut self) -> Result<Vec<VolumeAttributesClass>, Error> {
        let resource = "volumeattributesclasses";
        let mut listing: Listing<DynamicObject> = Listing::Missing;
        for version in ["v1", "v1beta1", "v1alpha1"] {
            let kind = GroupVersionKind::gvk("storage.k8s.io", version, "VolumeAttributesClass");
            let kind = ApiResource::from_gvk_with_plural(&kind, resource);
            listing = self.pages(&Api::all_with(self.cluster.client(), &kind), resource)?;
            // A kind that is forbidden in one version is forbidden in all of them.
            if !matches!(listing, Listing::Missing) {
                break;
            }
        }
        let read = |object: DynamicObject| {
            let value = serde_json::to_value(&object).map_err(|error| error.to_string())?;
            of_any_version(value)
        };
        let mut classes = Vec::new();
        for object in self.objects_of(listing, resource).unwrap_or_default() {
            let name = object.metadata.name.clone().unwrap_or_default();
            match read(object) {
                Ok(class) => classes.push(class),
                Err(why) => self.unseen.push(Unseen::new(
                    format!("VolumeAttributesClass {name}"),
                    format!("could not be read: {why}"),
                )),
            }
        }
        Ok(classes)
    }

    /// Settings of network plugins, as far as there are any.
    fn settings(&mut self) -> Result<Vec<ConfigMap>, Error> {
        let mut found = Vec::new();
        let mut forbidden = Vec::new();
        for (namespace, name) in SETTINGS {
            let maps: Api<ConfigMap> = Api::namespaced(self.cluster.client(), namespace);
            match self.cluster.ask_of(Call::new("get", "configmaps"), maps.get(name)) {
                Ok(map) => found.extend(map),
                Err(Error::Forbidden { .. }) => forbidden.push(namespace),
                Err(other) => return Err(other),
            }
        }
        forbidden.dedup();
        if !forbidden.is_empty() {
            let how = format!("not allowed to get configmaps in {}", forbidden.join(", "));
            self.unseen.push(Unseen::new("settings of the pod network", how));
        }
        Ok(found)
    }
}
