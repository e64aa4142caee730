//! The two threads beside the jobs: the driver that publishes index versions, and the searcher.

use iotax_record::OperationRecord;
use iotax_spec::IndexLoads;
use iotax_vdisk::{Clock as _, IoTarget};

use super::gate::Ticket;
use super::shared_state::SharedState;
use crate::error::Error;
use crate::index::{FileIndex, IndexStore, Published, Run, SlotIndex, publish_versions, search};

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Publishes.
    Driver,
    /// Loads and answers.
    Searcher,
}

impl Role {
    /// Name of its thread.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Driver => "index.driver",
            Self::Searcher => "index.search",
        }
    }
}

/// Makes sure that there is a version to start from.
pub(super) fn first_version(
    target: IoTarget<'_>,
    loads: IndexLoads,
    seed: u64,
) -> Result<(), Error> {
    let mut store = store(target, loads, seed)?;
    if !store.has_version() {
        store.publish(1, &|| false).map_err(|source| Error::Index { source })?;
    }
    Ok(())
}

/// One of the two threads, from its setup to its record.
pub(super) fn perform(
    shared: &SharedState<'_>,
    role: Role,
    loads: IndexLoads,
    published: &Published,
    ticket: Ticket<'_>,
) -> Result<Option<Vec<OperationRecord>>, Error> {
    let seed = shared.request.seed ^ 0x0069_6e64_6578;
    let mut store = store(shared.request.target, loads, seed)?;
    if role == Role::Searcher {
        let loaded = store.open(1).and_then(|()| store.touch());
        loaded.map_err(|source| Error::Index { source })?;
    }
    let _through = shared.index_through();
    let Some(start_ns) = ticket.arrive() else { return Ok(None) };
    let window = shared.window(start_ns);
    let run = Run { loads, published, start_ns, window, flags: shared.flags(), seed };
    shared.clock.sleep_until(start_ns);
    Ok(Some(match role {
        Role::Driver => vec![publish_versions(&mut *store, &shared.clock, &run)],
        Role::Searcher => search(&mut *store, &shared.clock, &run).into(),
    }))
}

fn store(target: IoTarget<'_>, loads: IndexLoads, seed: u64) -> Result<Box<dyn IndexStore>, Error> {
    Ok(match target {
        IoTarget::Path(directory) | IoTarget::Own(directory) => {
            Box::new(FileIndex::new(directory, loads.index_bytes, seed)?)
        }
        IoTarget::Several(_) | IoTarget::Peer(_) => {
            return Err(Error::IndexOnDevice { path: target.to_string().into() });
        }
        IoTarget::Disk(disk) => {
            let slots = SlotIndex::new(disk, loads.index_bytes, seed);
            Box::new(slots.map_err(|source| Error::Disk {
                job: "index".to_owned(),
                disk: disk.to_string(),
                source,
            })?)
        }
    })
}
