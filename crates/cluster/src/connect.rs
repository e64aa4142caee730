//! A cluster, and a namespace in it.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::api::{DeleteParams, ListParams, PostParams};
use kube::client::{Body, ConfigExt as _, retry::RetryPolicy};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::{Builder, Handle, Runtime};
use tower::ServiceBuilder;
use tower::retry::RetryLayer;

use crate::error::{Call, Error, causes};

/// An API server that is silent for this long counts as gone.
const PATIENCE: Duration = Duration::from_secs(30);

/// Objects of a namespace.
pub(crate) trait Namespaced:
    Resource<Scope = NamespaceResourceScope, DynamicType = ()>
    + k8s_openapi::Resource
    + Clone
    + Serialize
    + DeserializeOwned
    + fmt::Debug
{
}

impl<K> Namespaced for K where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
        + k8s_openapi::Resource
        + Clone
        + Serialize
        + DeserializeOwned
        + fmt::Debug
{
}

/// A namespace of a cluster. Everything asynchronous is awaited here, so callers block.
pub struct Cluster {
    client: Client,
    /// Identifies the cluster, independent of its address.
    id: String,
    namespace: String,
    runtime: Arc<Runtime>,
}

impl Cluster {
    /// The cluster of a context of the user's configuration (`KUBECONFIG`, `~/.kube/config`), or
    /// the one that this process runs in; without names the configuration's own.
    ///
    /// # Errors
    /// If there is no configuration, or it cannot be used.
    pub fn connect(context: Option<&str>, namespace: Option<&str>) -> Result<Self, Error> {
        let runtime = runtime()?;
        let no_cluster = |error: &dyn std::error::Error| Error::NoCluster { why: causes(error) };
        let config = runtime.block_on(async {
            if context.is_none() {
                return Config::infer().await.map_err(|error| no_cluster(&error));
            }
            let context = context.map(str::to_owned);
            let options = KubeConfigOptions { context, ..KubeConfigOptions::default() };
            let read = Kubeconfig::read().map_err(|error| no_cluster(&error))?;
            let config = Config::from_custom_kubeconfig(read, &options).await;
            config.map_err(|error| no_cluster(&error))
        })?;
        let namespace = namespace.unwrap_or(&config.default_namespace).to_owned();
        // A client starts a task.
        let inside = runtime.enter();
        let id = id(&config);
        let client = client(config).map_err(|error| no_cluster(&error))?;
        drop(inside);
        Ok(Self { client, id, namespace, runtime })
    }

    /// One that is spoken to by a client that exists.
    #[cfg(test)]
    pub(crate) fn of(make: impl FnOnce() -> Client, namespace: &str) -> Self {
        let runtime = runtime().unwrap();
        let inside = runtime.enter();
        let client = make();
        drop(inside);
        let id = iotax_record::stable_id("cluster", &["test"]);
        Self { client, id, namespace: namespace.to_owned(), runtime }
    }

    /// The same cluster, in another namespace.
    pub(crate) fn at(&self, namespace: &str) -> Self {
        let (client, id, runtime) =
            (self.client.clone(), self.id.clone(), Arc::clone(&self.runtime));
        Self { client, id, namespace: namespace.to_owned(), runtime }
    }

    /// Identifies the cluster in records.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The namespace for everything that is created.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    pub(crate) fn api<K: Namespaced>(&self) -> Api<K> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Objects without a namespace, which few users may read.
    pub(crate) fn api_of_all<K>(&self) -> Api<K>
    where
        K: Resource<Scope = ClusterResourceScope, DynamicType = ()>,
    {
        Api::all(self.client.clone())
    }

    /// Those of the namespace.
    pub(crate) fn list<K: Namespaced>(&self, which: &ListParams) -> Result<Vec<K>, Error> {
        let call = Call::new("list", K::URL_PATH_SEGMENT);
        Ok(self.ask(call, self.api::<K>().list(which))?.items)
    }

    /// Creates an object in the namespace, and returns it as the cluster has it.
    pub(crate) fn create<K: Namespaced>(&self, object: &K) -> Result<K, Error> {
        let how = PostParams::default();
        self.ask(Call::new("create", K::URL_PATH_SEGMENT), self.api().create(&how, object))
    }

    /// Deletes an object of the namespace; returns whether it existed.
    pub(crate) fn delete<K: Namespaced>(&self, name: &str) -> Result<bool, Error> {
        let (objects, how) = (self.api::<K>(), DeleteParams::background());
        let gone = objects.delete(name, &how);
        Ok(self.ask_of(Call::new("delete", K::URL_PATH_SEGMENT), gone)?.is_some())
    }

    /// For objects in other namespaces, or without one.
    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    pub(crate) fn runtime(&self) -> &Handle {
        self.runtime.handle()
    }

    /// Sends a request to the cluster, and waits for the answer.
    pub(crate) fn ask<T>(
        &self,
        call: Call,
        answer: impl Future<Output = kube::Result<T>>,
    ) -> Result<T, Error> {
        self.runtime.block_on(async {
            match tokio::time::timeout(PATIENCE, answer).await {
                Ok(answer) => answer.map_err(|error| call.failed(&self.namespace, &error)),
                Err(_) => Err(Error::Unreachable {
                    doing: call.to_string(),
                    why: format!("it sent nothing for {PATIENCE:?}"),
                }),
            }
        })
    }

    /// As [`Self::ask`]; `None` for an object that does not exist.
    pub(crate) fn ask_of<T>(
        &self,
        call: Call,
        answer: impl Future<Output = kube::Result<T>>,
    ) -> Result<Option<T>, Error> {
        self.ask(call, async {
            match answer.await {
                Err(kube::Error::Api(status)) if status.is_not_found() => Ok(None),
                other => other.map(Some),
            }
        })
    }
}

/// As [`Client::try_from`], but with `TCP_NODELAY`. Some requests to an agent are sent in two
/// pieces, and the second would wait until the first is acknowledged: 40 ms, a third of a slice.
fn client(config: Config) -> kube::Result<Client> {
    if config.proxy_url.is_some() {
        return Client::try_from(config);
    }
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_nodelay(true);
    connector.set_connect_timeout(config.connect_timeout);
    let connector = config.rustls_https_connector_with_connector(connector)?;
    let retry = config.default_retry.then(|| RetryLayer::new(RetryPolicy::server_retry()));
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(retry)
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(tower::BoxError::from)
        .service(
            hyper_util::client::legacy::Client::builder(TokioExecutor::new())
                .build::<_, Body>(connector),
        );
    Ok(Client::new(service, config.default_namespace))
}

/// From its certificate authority, which is unique to a cluster, or else from its address.
fn id(config: &Config) -> String {
    let certificates = config.root_cert.iter().flatten();
    let certificates: Vec<String> = certificates.map(|der| format!("{der:x?}")).collect();
    let address = config.cluster_url.to_string();
    let parts: Vec<&str> = match certificates.as_slice() {
        [] => vec![&address],
        some => some.iter().map(String::as_str).collect(),
    };
    iotax_record::stable_id("cluster", &parts)
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

/// One thread for everything in the background: streams of agents, the lease.
fn runtime() -> Result<Arc<Runtime>, Error> {
    Ok(Arc::new(Builder::new_multi_thread().worker_threads(1).enable_all().build()?))
}
