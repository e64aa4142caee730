//! The program iperf3 as a load driver for network paths.
//!
//! The peer at the far end starts the server at the address at which it was reached. The client
//! runs here, in the namespace of the path's near end, and prints its result as JSON to standard
//! output, which is anonymous memory. Each program dies with the process that started it.

mod words;

pub use words::refuse_with_iperf3;

use std::io::{self, Read as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use iotax_dialects::importers::{Imported, iperf3 as result};
use iotax_experiment::units::format_duration;
use iotax_experiment::{Job, Workload};
use iotax_record::{FarEndRecord, LoadRecord};
use rustix::process::Pid;

use crate::busiest::{self, OfEnd};
use crate::child::{self, Child, Ending};
use crate::counters::Watch;
use crate::driver::{LayoutProgress, LoadDriver, Request, offered_ios};
use crate::error::Error;
use crate::peer::client::FarEnd;
use crate::peer::{Flow, Role, client};
use crate::target::{IoTarget, Peer};

const NAME: &str = "iperf3";
/// Beyond ramp and time: connections, and the exchange of results.
const GRACE_NS: u64 = 30_000_000_000;

/// Drives flows with the program iperf3.
#[derive(Debug, Clone)]
pub struct Iperf3 {
    program: PathBuf,
}

impl Iperf3 {
    /// The iperf3 that a shell would run.
    ///
    /// # Errors
    /// [`Error::NoProgram`] if there is none.
    pub fn find() -> Result<Self, Error> {
        child::find_program(NAME).map(|program| Self { program })
    }
}

impl LoadDriver for Iperf3 {
    fn prepare(
        &self,
        workload: &Workload,
        target: IoTarget<'_>,
        _: &LayoutProgress<'_>,
        _: &AtomicBool,
    ) -> Result<(), Error> {
        of_path(words::the_job(workload)?, target).map(drop)
    }

    fn run(&self, request: &Request<'_>) -> Result<LoadRecord, Error> {
        let job = words::the_job(request.workload)?;
        let peer = of_path(job, request.target)?;
        let (port, _server) = start_server(peer)?;
        let address = SocketAddr::new(peer.address.ip(), port);
        let arguments = words::arguments(job, address, request.ramp_ns, request.time_ns)?;
        let child = Child {
            directory: Path::new("/proc/self"),
            namespace: peer.namespace.as_deref(),
            ..Child::new(NAME, &self.program, arguments)
        };
        let mut edges = Edges::of(peer, request);
        let limit_ns = request.ramp_ns.saturating_add(request.time_ns).saturating_add(GRACE_NS);
        let limit = Duration::from_nanos(limit_ns);
        let said = child.run(limit, request.stop, &mut |pid| edges.glance(pid))?;
        let succeeded = || said.succeeded("end", &format_duration(limit_ns));
        if said.ending != Ending::Itself {
            succeeded()?;
        }
        // Of a run that failed, the JSON says why.
        let found = result::read_iperf3(&said.out)
            .map_err(|error| said.failed(&format!("produced no usable result: {error}")))?;
        succeeded()?;
        Ok(record(job, found, edges))
    }
}

/// The far end of the path that a job drives load over.
fn of_path<'a>(job: &Job, target: IoTarget<'a>) -> Result<&'a Peer, Error> {
    let IoTarget::Peer(peer) = target else {
        let why = format!("iperf3 needs a network path such as `netns`, but {target} is not one");
        return Err(Error::unsuitable(job, why));
    };
    if peer.tls.is_some() {
        let why = "iperf3 does not support TLS; remove the layer `tls`, or choose a native engine";
        return Err(Error::unsuitable(job, why));
    }
    Ok(peer)
}

/// What is counted at the edges of the window, at both ends.
struct Edges {
    watch: Watch,
    far_end: Option<FarEnd>,
    before: Option<(FarEndRecord, OfEnd)>,
    after: Option<(FarEndRecord, OfEnd)>,
}

impl Edges {
    fn of(peer: &Peer, request: &Request<'_>) -> Self {
        let watch = Watch::new(request.ramp_ns, request.time_ns);
        Self { watch, far_end: FarEnd::of(peer).ok(), before: None, after: None }
    }

    fn glance(&mut self, pid: Pid) {
        self.watch.glance(pid);
        let (now, Watch { opens, closes, .. }) = (Instant::now(), &self.watch);
        let edge = match (&self.before, &self.after) {
            (None, _) if now >= *opens && now < *closes => &mut self.before,
            (Some(_), None) if now >= *closes => &mut self.after,
            _ => return,
        };
        *edge = self.far_end.as_mut().and_then(FarEnd::now);
    }

    /// What was counted in between: of the peer's host, since the peer itself only waits.
    fn counted(&mut self) -> Option<(FarEndRecord, OfEnd)> {
        let last = || self.far_end.as_mut().and_then(FarEnd::now);
        let (after, busiest) = self.after.take().or_else(last)?;
        Some((after.since(&self.before.as_ref()?.0), busiest))
    }
}

fn record(job: &Job, found: Imported, mut edges: Edges) -> LoadRecord {
    let mut load = found.into_load();
    if let (Some(far_end), Some((counted, [_, cpu]))) = (&mut load.far_end, edges.counted()) {
        load.busiest = busiest::record(&[], &[[None, cpu]]);
        // The CPU time is that of the server, as it told its client.
        *far_end = FarEndRecord { cpu_ns: far_end.cpu_ns, ..counted };
    }
    load.paused = edges.watch.paused();
    load.system = edges.watch.counters();
    for record in &mut load.jobs {
        record.name.clone_from(&job.name);
        record.offered_ios = offered_ios(job, record.active_ns);
    }
    load
}

/// Of what the far end says when it cannot.
const MOST_WORDS_BYTES: u64 = 400;

/// Has the far end start a server, at the peer's address: its port, and the connection with whose
/// end it ends.
fn start_server(peer: &Peer) -> Result<(u16, Flow), Error> {
    let (mut connection, _) = client::connect(peer, Role::Iperf3)?;
    let port = told(&mut connection).map_err(Error::peer(peer))?;
    Ok((port, connection))
}

/// A port; or 0, and why there is none.
fn told(connection: &mut Flow) -> io::Result<u16> {
    let mut port = [0; 2];
    connection.read_exact(&mut port)?;
    let port = u16::from_le_bytes(port);
    if port != 0 {
        return Ok(port);
    }
    let mut words = Vec::new();
    connection.take(MOST_WORDS_BYTES).read_to_end(&mut words)?;
    let words: String =
        String::from_utf8_lossy(&words).chars().filter(|c| !c.is_control()).collect();
    Err(io::Error::other(format!("at the far end: {words}")))
}
