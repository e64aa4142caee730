//! Loads new versions and answers queries.

use iotax_experiment::IndexLoads;
use iotax_record::{OperationRecord, Slow};
use iotax_vdisk::Clock;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::IndexStore;
use super::run::{Run, operation};
use crate::engine::below;
use crate::engine::pace::Schedule;

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
