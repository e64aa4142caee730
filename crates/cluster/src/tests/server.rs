//! An API server of a few resources, in memory.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http::{Method, Request, Response, StatusCode};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

/// By resource and name.
type Objects = BTreeMap<(String, String), Value>;

/// What it has, and what was asked of it.
#[derive(Default)]
pub(super) struct Server {
    objects: Mutex<Objects>,
    asked: Mutex<Vec<String>>,
    /// Verb and resource, and what is said.
    refused: Mutex<BTreeMap<String, String>>,
    /// How many questions more it cannot answer.
    overloaded: AtomicUsize,
    /// What is said of pods on the hosts' network.
    host_network: Mutex<Option<String>>,
    /// Resources that it serves in one version only.
    versions: Mutex<BTreeMap<String, String>>,
}

impl Server {
    pub(super) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// One that speaks with it.
    pub(super) fn client(self: &Arc<Self>) -> Client {
        let server = Arc::clone(self);
        let service = tower::service_fn(move |request: Request<Body>| {
            let server = Arc::clone(&server);
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect_bytes().await.unwrap_or_default();
                let body = serde_json::from_slice(&body).unwrap_or_default();
                let path = parts.uri.path();
                let query = parts.uri.query().unwrap_or_default();
                let (code, answer) = server.answer(&parts.method, path, query, body);
                let answer = Body::from(answer.to_string().into_bytes());
                let answer = Response::builder().status(code).body(answer);
                Ok::<_, Infallible>(answer.expect("it is an answer"))
            }
        });
        Client::new(service, "bench")
    }

    /// Serves a resource in this version only.
    pub(super) fn serve_only(&self, resource: &str, version: &str) {
        self.versions.lock().unwrap().insert(resource.to_owned(), version.to_owned());
    }

    pub(super) fn objects(&self, resource: &str) -> Vec<Value> {
        let objects = self.objects.lock().unwrap();
        let of_kind = objects.iter().filter(|((kind, _), _)| kind == resource);
        of_kind.map(|(_, object)| object.clone()).collect()
    }

    pub(super) fn count(&self, resource: &str) -> usize {
        self.objects(resource).len()
    }

    pub(super) fn put(&self, resource: &str, object: &Value) {
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        self.objects.lock().unwrap().insert((resource.to_owned(), name), object.clone());
    }

    pub(super) fn remove_all(&self, resource: &str) {
        self.objects.lock().unwrap().retain(|(kind, _), _| kind != resource);
    }

    /// Verbs and resources, as they were asked.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    pub(super) fn forbid(&self, verb: &str, resource: &str) {
        let message = format!(
            "{resource} is forbidden: User \"eve\" cannot {verb} resource \"{resource}\" in API \
             group \"\" in the namespace \"bench\""
        );
        self.refuse(verb, resource, &message);
    }

    /// In a namespace of others.
    pub(super) fn forbid_in(&self, namespace: &str, verb: &str, resource: &str) {
        self.forbid(verb, &format!("{resource} in {namespace}"));
    }

    pub(super) fn refuse(&self, verb: &str, resource: &str, message: &str) {
        self.refused.lock().unwrap().insert(format!("{verb} {resource}"), message.to_owned());
    }

    /// So many questions are not answered.
    pub(super) fn overload(&self, questions: usize) {
        self.overloaded.store(questions, Ordering::Relaxed);
    }

    pub(super) fn refuse_host_network(&self, message: &str) {
        *self.host_network.lock().unwrap() = Some(message.to_owned());
    }

    /// All pods that runs made run.
    pub(super) fn set_running(&self) {
        self.set_status(&json!({ "phase": "Running", "containerStatuses": [{
            "name": "iotax", "image": "x", "imageID": "", "ready": true, "restartCount": 0,
            "state": { "running": {} },
        }]}));
    }

    /// Of all pods that runs made.
    pub(super) fn set_status(&self, status: &Value) {
        let mut objects = self.objects.lock().unwrap();
        for (_, pod) in objects.iter_mut().filter(|((kind, _), _)| kind == "pods") {
            if pod["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "iotax" {
                pod["status"] = status.clone();
            }
        }
    }

    pub(super) fn renew(&self, lease: &str) {
        let mut objects = self.objects.lock().unwrap();
        let lease = objects.get_mut(&("leases".to_owned(), lease.to_owned())).unwrap();
        lease["spec"]["renewTime"] = json!("2100-01-01T00:00:00.000000Z");
    }

    fn answer(
        &self,
        method: &Method,
        path: &str,
        query: &str,
        mut body: Value,
    ) -> (StatusCode, Value) {
        let (namespace, resource, name) = named(path);
        let verb = match (method, name) {
            (&Method::GET, None) => "list",
            (&Method::GET, Some(_)) => "get",
            (&Method::POST, _) => "create",
            (&Method::PATCH, _) => "patch",
            (&Method::DELETE, Some(_)) => "delete",
            _ => panic!("{method} {path}"),
        };
        let asked = format!("{verb} {resource}");
        self.asked.lock().unwrap().push(asked.clone());
        let fewer = |questions: usize| questions.checked_sub(1);
        if self.overloaded.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer).is_ok() {
            let message = "apiserver is shutting down";
            return status(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable", message);
        }
        if let Some(version) = self.versions.lock().unwrap().get(resource)
            && !path.contains(&format!("/{version}/"))
        {
            return status(StatusCode::NOT_FOUND, "NotFound", "the server could not find it");
        }
        let asked_there = format!("{asked} in {}", namespace.unwrap_or_default());
        let refused = self.refused.lock().unwrap();
        if let Some(message) = refused.get(&asked).or_else(|| refused.get(&asked_there)) {
            return status(StatusCode::FORBIDDEN, "Forbidden", message);
        }
        if let Some(message) = &*self.host_network.lock().unwrap()
            && body["spec"]["hostNetwork"] == true
        {
            return status(StatusCode::FORBIDDEN, "Forbidden", message);
        }
        let mut objects = self.objects.lock().unwrap();
        match (verb, name) {
            ("create", _) if query.contains("dryRun=All") => (StatusCode::CREATED, body),
            ("list", _) => {
                let selected = |object: &&Value| is_selected(object, query);
                let is_here = |object: &Value| {
                    let theirs = object["metadata"]["namespace"].as_str();
                    namespace.is_none() || theirs.is_none() || theirs == namespace
                };
                let of_kind = objects
                    .iter()
                    .filter(|((kind, _), object)| kind == resource && is_here(object));
                let items: Vec<&Value> =
                    of_kind.map(|(_, object)| object).filter(selected).collect();
                (StatusCode::OK, json!({ "metadata": {}, "items": items }))
            }
            ("create", _) => {
                let name = body["metadata"]["name"].as_str().expect("a name").to_owned();
                if objects.contains_key(&(resource.to_owned(), name.clone())) {
                    return status(StatusCode::CONFLICT, "AlreadyExists", "already exists");
                }
                body["metadata"]["namespace"] = json!(namespace);
                body["metadata"]["uid"] = json!(format!("uid of {name}"));
                objects.insert((resource.to_owned(), name), body.clone());
                (StatusCode::CREATED, body)
            }
            ("get", Some(name)) => match objects.get(&(resource.to_owned(), name.to_owned())) {
                Some(object) => (StatusCode::OK, object.clone()),
                None => status(StatusCode::NOT_FOUND, "NotFound", "not found"),
            },
            ("delete", Some(name)) => {
                match objects.remove(&(resource.to_owned(), name.to_owned())) {
                    Some(object) => (StatusCode::OK, object),
                    None => status(StatusCode::NOT_FOUND, "NotFound", "not found"),
                }
            }
            _ => status(StatusCode::NOT_FOUND, "NotFound", "not found"),
        }
    }
}

/// The namespace, the resource, and the name of an object; what is in no namespace, or in any, is
/// listed only.
fn named(path: &str) -> (Option<&str>, &str, Option<&str>) {
    let Some((_, path)) = path.split_once("/namespaces/") else {
        return (None, path.rsplit('/').next().unwrap_or_default(), None);
    };
    let Some((namespace, path)) = path.split_once('/') else {
        return (None, "namespaces", Some(path));
    };
    match path.split_once('/') {
        Some((resource, name)) => (Some(namespace), resource, Some(name)),
        None => (Some(namespace), path, None),
    }
}

fn status(code: StatusCode, reason: &str, message: &str) -> (StatusCode, Value) {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure",
        "message": message, "reason": reason, "code": code.as_u16(),
    });
    (code, status)
}

/// Whether an object has all labels that a query asks for.
fn is_selected(object: &Value, query: &str) -> bool {
    let selector = query.split('&').find_map(|part| part.strip_prefix("labelSelector="));
    let selector = selector.unwrap_or_default().replace("%2F", "/").replace("%3D", "=");
    selector.replace("%2C", ",").split(',').filter(|part| !part.is_empty()).all(|part| {
        let (key, value) = part.split_once('=').expect("key=value");
        object["metadata"]["labels"][key] == value
    })
}
