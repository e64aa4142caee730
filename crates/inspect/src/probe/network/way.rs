//! The way to a peer, as the kernel would take it: `ip -json route get` knows all tables and rules.

use std::net::{IpAddr, ToSocketAddrs};
use std::time::Duration;

use iotax_record::machine::{Route, Unseen};
use serde::Deserialize;

use super::super::nfs::has_policy;
use super::super::programs::Programs;
use crate::deadline::within;

/// How long a name may take to be resolved.
const RESOLVED: Duration = Duration::from_secs(1);

/// A route, and the interface that it leads through.
pub(super) struct Way {
    pub(super) route: Route,
    pub(super) interface: String,
}

#[derive(Debug, Deserialize)]
struct IpRoute {
    dev: String,
    gateway: Option<String>,
    prefsrc: Option<String>,
    #[serde(default)]
    metrics: Vec<Metrics>,
}

#[derive(Debug, Deserialize)]
struct Metrics {
    mtu: Option<u32>,
}

/// The first address of a host, or why there is none.
pub(super) fn address(
    host: &str,
    is_for_ssh: bool,
    programs: &Programs<'_>,
) -> Result<IpAddr, String> {
    // What a user calls a host in ssh's configuration is known to ssh alone.
    let known = is_for_ssh.then(|| programs.output("ssh", &["-G", "--", host])).flatten();
    let known =
        known.as_deref().and_then(|told| told.lines().find_map(|l| l.strip_prefix("hostname ")));
    let name = known.unwrap_or(host).rsplit('@').next().unwrap_or_default();
    let name = name.trim_start_matches('[').trim_end_matches(']').to_owned();
    let asked = name.clone();
    let found = within(RESOLVED, move || {
        (asked.as_str(), 0).to_socket_addrs().map(|mut all| all.next().map(|one| one.ip()))
    });
    match found {
        Some(Ok(Some(address))) => Ok(address),
        Some(Ok(None)) => Err(format!("{name} has no address")),
        Some(Err(error)) => Err(format!("{name} has no address: {error}")),
        None => Err(format!("{name}: no address within a second: give the address itself")),
    }
}

/// The way there, or why there is none.
pub(super) fn route(
    to: IpAddr,
    programs: &Programs<'_>,
    unseen: &mut Vec<Unseen>,
) -> Result<Way, String> {
    let destination = to.to_string();
    let Some(told) = programs.output("ip", &["-j", "route", "get", &destination]) else {
        return Err(format!("no route to {destination}: ip route get {destination}"));
    };
    let Some(IpRoute { dev, gateway, prefsrc, metrics }) = parse(&told) else {
        return Err(format!("ip route get {destination} tells nothing that is understood"));
    };
    let route = Route {
        ipsec: has_policy(to, &destination, programs, unseen),
        destination,
        gateway,
        source: prefsrc,
        mtu_bytes: metrics.iter().find_map(|metrics| metrics.mtu),
        probe: None,
    };
    Ok(Way { route, interface: dev })
}

/// The interface through which an address is reached.
pub(super) fn interface(to: IpAddr, programs: &Programs<'_>) -> Option<String> {
    let told = programs.output("ip", &["-j", "route", "get", &to.to_string()])?;
    Some(parse(&told)?.dev)
}

fn parse(told: &str) -> Option<IpRoute> {
    let mut routes: Vec<IpRoute> = serde_json::from_str(told).ok()?;
    (!routes.is_empty()).then(|| routes.swap_remove(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::scripts::{PATIENT, with};

    #[test]
    fn a_route_tells_its_interface_gateway_and_mtu() {
        let told = r#"[{"dst":"10.9.1.1","gateway":"10.0.0.9","dev":"eth0","prefsrc":"10.0.0.1",
            "flags":[],"uid":0,"cache":[],"metrics":[{"mtu":1300}]}]"#;
        let script = format!("case $1 in -j) echo '{told}';; *) exit 2;; esac");
        let directory = with("ip", &script);
        let directories = [directory.path().to_owned()];
        let programs = Programs::new(&directories, PATIENT);
        let mut unseen = Vec::new();
        let Ok(Way { route, interface }) =
            route("10.9.1.1".parse().unwrap(), &programs, &mut unseen)
        else {
            panic!("no route")
        };
        assert_eq!((interface.as_str(), route.mtu_bytes), ("eth0", Some(1300)));
        assert_eq!(route.gateway.as_deref(), Some("10.0.0.9"));
        assert_eq!((route.ipsec, unseen.len()), (None, 1));
    }

    #[test]
    fn addresses_are_their_own_and_what_has_none_says_so() {
        let programs = Programs::new(&[], PATIENT);
        let of = |host| address(host, false, &programs);
        assert_eq!(of("192.0.2.7"), Ok("192.0.2.7".parse().unwrap()));
        assert_eq!(of("[fd00::2]"), Ok("fd00::2".parse().unwrap()));
        assert!(of("no such host").is_err());
        assert!(parse("[]").is_none() && parse("{").is_none());
    }
}
