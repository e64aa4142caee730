//! Index versions: a driver publishes them, a searcher loads each new one and answers queries.
//!
//! The load of a search engine on one machine: a new version of the index is written, made durable
//! and put in place atomically. The searcher maps the index, and must load the new version before
//! it can answer more queries. Users notice the load time.

mod stores;

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use iotax_experiment::{IndexEnds, IndexLoads};
use iotax_record::{OperationRecord, Slow};
use iotax_vdisk::Clock;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use crate::driver::Request;
use crate::engine::below;
use crate::engine::gate::Ticket;
use crate::engine::pace::Schedule;
use crate::engine::stop::StopFlags;
use crate::engine::thread::SharedState;
use crate::engine::window::Window;
use crate::error::Error;
use crate::target::IoTarget;

pub(crate) use stores::{FileIndex, NAME, SlotIndex, is_ours, lay_out};

/// Unit in which versions are written.
pub(crate) const CHUNK_BYTES: usize = 1 << 20;

/// Where versions are kept. The driver and the searcher each have a store of their own on the
/// same place; what they share is the number of the version that is published.
pub(crate) trait IndexStore: Send {
    /// Whether a version from an earlier run can be used for a start.
    fn has_version(&mut self) -> bool;

    /// Writes `version`, makes it durable, and puts it in place. `Ok(false)` if `give_up` said so
    /// before it was in place; the version before then stays.
    fn publish(&mut self, version: u64, give_up: &dyn Fn() -> bool) -> io::Result<bool>;

    /// Opens `version`, which is in place, for [`IndexStore::touch`].
    fn open(&mut self, version: u64) -> io::Result<()>;

    /// Has every page of the version opened last come into memory, and makes it the one that
    /// [`IndexStore::read`] reads.
    fn touch(&mut self) -> io::Result<()>;

    /// Reads from the version loaded last.
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
}

/// The number of the version in place.
#[derive(Debug)]
pub(crate) enum Published {
    /// As the driver in this process counts.
    Counted(AtomicU64),
    /// As a searcher counts that sees one file replace another at this path: which was there last,
    /// and how many were.
    Seen { path: PathBuf, seen: Mutex<(Option<Identity>, u64)> },
}

/// What tells one version from the next: inode number, and when it was written.
type Identity = (u64, i64, i64);

impl Published {
    /// Version 1 is in place.
    pub(crate) fn first() -> Self {
        Self::Counted(AtomicU64::new(1))
    }

    /// What somebody else publishes at `path` is version 1.
    pub(crate) fn elsewhere(path: PathBuf) -> Self {
        let seen = Mutex::new((identity(&path), 1));
        Self::Seen { path, seen }
    }

    fn set(&self, version: u64) {
        match self {
            Self::Counted(counted) => counted.store(version, Ordering::Release),
            Self::Seen { .. } => unreachable!("who publishes counts"),
        }
    }

    fn get(&self) -> u64 {
        match self {
            Self::Counted(counted) => counted.load(Ordering::Acquire),
            Self::Seen { path, seen } => {
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                let now = identity(path);
                // While one is put in the place of the other, some file systems show neither.
                if now.is_some() && now != seen.0 {
                    *seen = (now, seen.1 + 1);
                }
                seen.1
            }
        }
    }
}

fn identity(path: &Path) -> Option<Identity> {
    let facts = path.symlink_metadata().ok()?;
    Some((facts.ino(), facts.mtime(), facts.mtime_nsec()))
}

/// What the driver and the searcher of one run go by.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    /// The task.
    pub loads: IndexLoads,
    /// Version in place.
    pub published: &'a Published,
    /// When both start.
    pub start_ns: u64,
    /// What is counted.
    pub window: Window,
    /// What ends them early.
    pub flags: StopFlags<'a>,
    /// Arrivals and offsets of queries follow from it.
    pub seed: u64,
}

impl Run<'_> {
    /// Counts an operation that was under way from the one time to the other. Whether it succeeded
    /// in the window.
    fn count<T>(
        &self,
        sum: &mut OperationRecord,
        [from_ns, done_ns]: [u64; 2],
        outcome: io::Result<T>,
    ) -> bool {
        let is_in_window = (self.window.open_ns..self.window.close_ns).contains(&done_ns);
        match outcome {
            Ok(_) if is_in_window => {
                let took_ns = done_ns.saturating_sub(from_ns);
                sum.latency.record(took_ns);
                if let Some(slow) = &mut sum.slow {
                    slow.count += u64::from(took_ns > slow.above_ns);
                }
            }
            Ok(_) => {}
            Err(error) => {
                sum.errors += u64::from(is_in_window);
                let what = &sum.name;
                sum.first_error.get_or_insert_with(|| format!("index: {what}: {error}"));
                return false;
            }
        }
        is_in_window
    }
}

/// Nothing done yet.
fn operation(name: &str) -> OperationRecord {
    OperationRecord { name: name.to_owned(), ..OperationRecord::default() }
}

/// How long to sleep at most before looking at the stop flags again.
const POLL_INTERVAL_NS: u64 = 10_000_000;

/// Publishes versions 2, 3, ... until the window closes, at most at the asked rate: each starts
/// one period after the start of the one before, or when that one is done if it took longer.
pub(crate) fn publish_versions(
    store: &mut dyn IndexStore,
    clock: &dyn Clock,
    run: &Run<'_>,
) -> OperationRecord {
    let mut record = operation("publish");
    let period_ns = 1e9 / run.loads.versions_per_second;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rates are > 0")]
    let period_ns = period_ns as u64;
    let over = || clock.now_ns() >= run.window.close_ns || run.flags.raised();
    let mut due_ns = run.start_ns;
    let mut version = 1;
    loop {
        while clock.now_ns() < due_ns && !over() {
            clock.sleep_until(due_ns.min(clock.now_ns() + POLL_INTERVAL_NS));
        }
        if over() {
            return record;
        }
        let began_ns = clock.now_ns();
        due_ns = began_ns.max(due_ns).saturating_add(period_ns);
        let outcome = store.publish(version + 1, &over);
        let done_ns = clock.now_ns();
        match outcome {
            Ok(true) => {
                version += 1;
                run.published.set(version);
            }
            Ok(false) => return record,
            Err(_) => {}
        }
        run.count(&mut record, [began_ns, done_ns], outcome);
    }
}

// Loads new versions and answers queries.

/// How often an idle searcher looks for a new version.
const LOOK_NS: u64 = 1_000_000;
/// Offsets of queries within the index are multiples of this.
const ALIGN_BYTES: u64 = 4096;

/// Searches until the window closes. The store must have version 1 loaded.
pub(crate) fn search(
    store: &mut dyn IndexStore,
    clock: &dyn Clock,
    run: &Run<'_>,
) -> [OperationRecord; 2] {
    let arrivals =
        Schedule::poisson(run.start_ns, run.loads.queries_per_second, 1, run.seed ^ 0x7175_6572);
    let slow = Slow { above_ns: run.loads.slow_load_ns, count: 0 };
    let mut searcher = Searcher {
        store,
        clock,
        run,
        arrivals,
        rng: Xoshiro256PlusPlus::seed_from_u64(run.seed),
        buffer: vec![0; run.loads.query_bytes as usize],
        loaded: 1,
        load: (0, 0),
        loads: OperationRecord { slow: Some(slow), ..operation(IndexLoads::LOAD) },
        queries: operation("query"),
        waited: 0,
    };
    searcher.run();
    searcher.queries.waited = Some(searcher.waited);
    [searcher.loads, searcher.queries]
}

struct Searcher<'a> {
    store: &'a mut dyn IndexStore,
    clock: &'a dyn Clock,
    run: &'a Run<'a>,
    arrivals: Schedule,
    rng: Xoshiro256PlusPlus,
    buffer: Vec<u8>,
    /// Version that queries are answered from.
    loaded: u64,
    /// Start and end of the latest load.
    load: (u64, u64),
    loads: OperationRecord,
    queries: OperationRecord,
    waited: u64,
}

impl Searcher<'_> {
    fn run(&mut self) {
        loop {
            let now_ns = self.clock.now_ns();
            if now_ns >= self.run.window.close_ns || self.run.flags.raised() {
                return;
            }
            let newest = self.run.published.get();
            if newest > self.loaded {
                self.load(newest, now_ns);
                continue;
            }
            let arrival_ns = self.arrivals.peek();
            if arrival_ns > now_ns {
                let look_ns = now_ns + LOOK_NS;
                self.clock.sleep_until(arrival_ns.min(look_ns).min(self.run.window.close_ns));
                continue;
            }
            self.arrivals.advance();
            self.answer(arrival_ns);
        }
    }

    fn load(&mut self, version: u64, began_ns: u64) {
        let outcome = self.store.open(version).and_then(|()| self.store.touch());
        let done_ns = self.clock.now_ns();
        // A version that cannot be loaded is not tried again: there will be a next one.
        self.loaded = version;
        self.load = (began_ns, done_ns);
        self.run.count(&mut self.loads, [began_ns, done_ns], outcome);
    }

    fn answer(&mut self, arrival_ns: u64) {
        let loads = &self.run.loads;
        let room = loads.index_bytes.saturating_sub(u64::from(loads.query_bytes));
        let offset = below(self.rng.next_u64(), room / ALIGN_BYTES + 1) * ALIGN_BYTES;
        let outcome = self.store.read(offset, &mut self.buffer);
        let done_ns = self.clock.now_ns();
        let counts = self.run.count(&mut self.queries, [arrival_ns, done_ns], outcome);
        let waited = (self.load.0..self.load.1).contains(&arrival_ns);
        self.waited += u64::from(counts && waited);
    }
}

// The two threads beside the jobs: the driver that publishes index versions, and the searcher.

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

/// Makes sure that there is a version to start from, and says how it is known which one is in
/// place.
pub(crate) fn first_version(request: &Request<'_>, loads: IndexLoads) -> Result<Published, Error> {
    let mut store = store(request, loads, request.seed)?;
    let is_there = store.has_version();
    match request.index_ends {
        IndexEnds::Searcher { published_in } if is_there => {
            Ok(Published::elsewhere(published_in.join(NAME)))
        }
        IndexEnds::Searcher { published_in } => {
            let what = format!("{} contains no published index version", published_in.display());
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use iotax_record::Slow;

    use super::*;
    use crate::engine::testing;

    #[test]
    fn a_version_that_takes_the_place_of_another_is_seen_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("index");
        let publish = |content: &str| {
            let aside = directory.path().join("aside");
            std::fs::write(&aside, content).unwrap();
            std::fs::rename(aside, &path).unwrap();
        };
        publish("one");
        let published = Published::elsewhere(path.clone());
        assert_eq!([published.get(), published.get()], [1, 1]);
        publish("two");
        assert_eq!([published.get(), published.get()], [2, 2]);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(published.get(), 2);
    }

    #[test]
    fn what_ends_in_the_window_counts_and_the_first_failure_is_told_from_anywhere() {
        let raised = AtomicBool::new(false);
        let run = Run {
            loads: testing::index_loads(1),
            published: &Published::first(),
            start_ns: 0,
            window: Window { open_ns: 100, close_ns: 200 },
            flags: StopFlags { user: &raised, broken: &raised, ended: &raised },
            seed: 1,
        };
        let slow = Some(Slow { above_ns: 20, count: 0 });
        let mut sum = OperationRecord { slow, ..operation("load") };
        let mut count =
            |from_ns, done_ns, outcome| run.count(&mut sum, [from_ns, done_ns], outcome);
        let failed = |what: &str| Err::<(), _>(io::Error::other(what.to_owned()));
        let times = [(0, 99), (90, 110), (110, 131), (190, 200)];
        let counted = times.map(|(from_ns, done_ns)| count(from_ns, done_ns, Ok(())));
        assert_eq!(counted, [false, true, true, false]);
        assert!(!count(0, 50, failed("before")));
        assert!(!count(110, 120, failed("in it")));
        assert_eq!((sum.latency.count(), sum.errors), (2, 1));
        assert_eq!(sum.slow, Some(Slow { above_ns: 20, count: 1 }));
        assert_eq!(sum.first_error.as_deref(), Some("index: load: before"));
    }
}
