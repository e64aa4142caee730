//! A Service for a pod of a run.

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Service;
use serde_json::json;

use super::pod::Member;
use super::run::{MEMBER, RUN, Run};

impl Run {
    /// A Service with an address of the cluster's own, for one port of a pod, with both protocols.
    pub(crate) fn service(&self, member: &Member, port: u16, owner: &Lease) -> Service {
        let number = member.number;
        let port_of = |protocol: &str| {
            let name = protocol.to_lowercase();
            json!({ "name": name, "protocol": protocol, "port": port, "targetPort": port })
        };
        let service = json!({
            "metadata": self.metadata(&self.member(number), owner),
            "spec": {
                "type": "ClusterIP",
                "selector": { RUN: self.id, MEMBER: number.to_string() },
                "ports": [port_of("TCP"), port_of("UDP")],
            },
        });
        serde_json::from_value(service).expect("it is a service")
    }
}
