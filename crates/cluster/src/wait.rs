//! Waits for pods, and says why while it does.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::{Event, Pod};
use kube::api::ListParams;

use crate::connect::Cluster;
use crate::error::{Call, Error};
use crate::objects::Run;
use crate::pending::{Pending, is_running, pending, unexplained};
use crate::session::Note;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(400);
/// A pod that starts within this needs no reason.
const SILENT: Duration = Duration::from_secs(2);

/// Waits until the pods of all arms run; they are returned in the order of `arms`, names of theirs.
///
/// # Errors
/// If one cannot start, or none of what keeps it has changed within `patience`; if the user stopped
/// it.
pub(crate) fn wait(
    cluster: &Cluster,
    run: &Run,
    arms: &[&str],
    patience: Duration,
    (stop, note): (&AtomicBool, &Note),
) -> Result<Vec<Pod>, Error> {
    let started = Instant::now();
    let mut told = vec![String::new(); arms.len()];
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let mut running = pods(cluster, run)?;
        let mut of_arms = Vec::new();
        for (arm, name) in arms.iter().enumerate() {
            let pod = run.arm(arm);
            let at = running.iter().position(|other| other.metadata.name.as_ref() == Some(&pod));
            let Some(at) = at else {
                return Err(Error::Gone { arm: (*name).to_owned(), pod });
            };
            of_arms.push(running.swap_remove(at));
        }
        if of_arms.iter().all(is_running) {
            return Ok(of_arms);
        }
        let waited = started.elapsed();
        if waited > SILENT {
            for (arm, pod) in of_arms.iter().enumerate().filter(|(_, pod)| !is_running(pod)) {
                let failed = |pending| Error::Pending {
                    arm: arms[arm].to_owned(),
                    pod: run.arm(arm),
                    pending: Box::new(pending),
                };
                let events = events(cluster, &run.told_of(arm));
                let found = pending(pod, &events);
                if waited > patience {
                    return Err(failed(found.unwrap_or_else(|| unexplained(&events))));
                }
                match found {
                    Some(found) if found.is_final => return Err(failed(found)),
                    Some(found) => tell(arms[arm], &found, &mut told[arm], note),
                    None => {}
                }
            }
        }
        thread::sleep(LOOK);
    }
}

/// Tells a reason that is another than before.
fn tell(arm: &str, found: &Pending, told: &mut String, note: &Note) {
    let text = found.to_string();
    if *told != text {
        note(&format!("arm {arm} waits: {text}"));
        *told = text;
    }
}

fn pods(cluster: &Cluster, run: &Run) -> Result<Vec<Pod>, Error> {
    let pods = cluster.api::<Pod>();
    let which = ListParams::default().labels(&run.selector());
    Ok(cluster.ask(Call::new("list", "pods"), pods.list(&which))?.items)
}

/// Events of objects of these names, as far as they may be seen.
fn events(cluster: &Cluster, names: &[String]) -> Vec<Event> {
    let events = cluster.api::<Event>();
    let of = |name: &String| {
        let which = ListParams::default().fields(&format!("involvedObject.name={name}"));
        let listed = cluster.ask(Call::new("list", "events"), events.list(&which));
        listed.map(|listed| listed.items).unwrap_or_default()
    };
    names.iter().flat_map(of).collect()
}
