//! The two threads beside the jobs: the driver that publishes index versions, and the searcher.

use std::io;

use iotax_experiment::{IndexEnds, IndexLoads};
use iotax_record::OperationRecord;
use iotax_vdisk::Clock as _;

use crate::driver::Request;
use crate::engine::gate::Ticket;
use crate::engine::shared_state::SharedState;
use crate::error::Error;
use crate::index::{
    self, FileIndex, IndexStore, Published, Run, SlotIndex, publish_versions, search,
};
use crate::target::IoTarget;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Publishes.
    Driver,
    /// Loads and answers.
    Searcher,
}

impl Role {
    /// Name of its thread.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Driver => "index.driver",
            Self::Searcher => "index.search",
        }
    }
}

/// Who is here.
pub(crate) fn roles(ends: &IndexEnds) -> &'static [Role] {
    match ends {
        IndexEnds::Both => &[Role::Driver, Role::Searcher],
        IndexEnds::Driver => &[Role::Driver],
        IndexEnds::Searcher { .. } => &[Role::Searcher],
    }
}

/// Makes sure that there is a version to start from, and says how it is known which one is in place.
pub(crate) fn first_version(request: &Request<'_>, loads: IndexLoads) -> Result<Published, Error> {
    let mut store = store(request, loads, request.seed)?;
    let is_there = store.has_version();
    match request.index_ends {
        IndexEnds::Searcher { published_in } if is_there => {
            Ok(Published::elsewhere(published_in.join(index::NAME)))
        }
        IndexEnds::Searcher { published_in } => {
            let what = format!("no version is published in {}", published_in.display());
            Err(Error::Index { source: io::Error::other(what) })
        }
        IndexEnds::Both | IndexEnds::Driver => {
            if !is_there {
                store.publish(1, &|| false).map_err(|source| Error::Index { source })?;
            }
            Ok(Published::first())
        }
    }
}

/// One of the two threads, from its setup to its record.
pub(crate) fn perform(
    shared: &SharedState<'_>,
    role: Role,
    loads: IndexLoads,
    published: &Published,
    ticket: Ticket<'_>,
) -> Result<Option<Vec<OperationRecord>>, Error> {
    let seed = shared.request.seed ^ 0x0069_6e64_6578;
    let mut store = store(shared.request, loads, seed)?;
    if role == Role::Searcher {
        let loaded = store.open(1).and_then(|()| store.touch());
        loaded.map_err(|source| Error::Index { source })?;
    }
    let _through = shared.running.index_through();
    let Some(start_ns) = ticket.arrive() else { return Ok(None) };
    let window = shared.window(start_ns);
    let run = Run { loads, published, start_ns, window, flags: shared.flags(), seed };
    shared.clock.sleep_until(start_ns);
    Ok(Some(match role {
        Role::Driver => vec![publish_versions(&mut *store, &shared.clock, &run)],
        Role::Searcher => search(&mut *store, &shared.clock, &run).into(),
    }))
}

fn store(
    request: &Request<'_>,
    loads: IndexLoads,
    seed: u64,
) -> Result<Box<dyn IndexStore>, Error> {
    if let IndexEnds::Searcher { published_in } = request.index_ends {
        return Ok(Box::new(FileIndex::new(published_in, loads.index_bytes, seed)?));
    }
    let target = request.target;
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
