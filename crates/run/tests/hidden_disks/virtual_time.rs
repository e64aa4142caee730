//! A load on virtual disks in virtual time: what happens is computed event by event, and the clock
//! jumps from one to the next. Minutes of load take milliseconds, and nothing disturbs them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use iotax_caps::{Ended, Observation, Prober};
use iotax_experiment::Probe;
use iotax_layers::Layer;
use iotax_vdisk::{Clock, ManualClock, Request, Session, Submitted, VirtualDisk};

/// Between two probes a load generator needs some time.
const BETWEEN_NS: u64 = 5_000_000;

pub(crate) struct VirtualTime {
    clock: Arc<ManualClock>,
    disks: Vec<VirtualDisk>,
    /// Virtual time spent, in nanoseconds.
    pub spent_ns: u64,
    pub probes: u32,
    /// What the load's thread computes.
    pub cpu: Option<Cpu>,
}

/// Time that one thread computes for each I/O, one after the other, when it is done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cpu {
    pub io_ns: f64,
    pub byte_ns: f64,
}

impl Cpu {
    pub(crate) fn of_io(self, bytes: u32) -> f64 {
        self.io_ns + self.byte_ns * f64::from(bytes)
    }
}

impl VirtualTime {
    pub(crate) fn of(stacks: &[Vec<Layer>]) -> Self {
        let clock = Arc::new(ManualClock::starting_at(1));
        let open = |stack: &Vec<Layer>| {
            VirtualDisk::open(stack, Arc::clone(&clock) as Arc<dyn Clock>).unwrap()
        };
        Self {
            disks: stacks.iter().map(open).collect(),
            clock: Arc::clone(&clock),
            spent_ns: 0,
            probes: 0,
            cpu: None,
        }
    }
}

struct Running {
    session: Session,
    /// Each block once before any comes again; these disks do not care in which order.
    next_block: u64,
    started_ns: Vec<u64>,
    seen: Observation,
    latency_sum_ns: f64,
    /// When its thread is through with what it computes.
    computed_ns: u64,
}

impl Prober for VirtualTime {
    fn probe(&mut self, probe: &Probe) -> Result<Vec<Observation>, Ended> {
        self.probes += 1;
        let begin_ns = self.clock.now_ns();
        let open_ns = begin_ns + probe.ramp_ns;
        let close_ns = open_ns + probe.time_ns;
        let depth = probe.queue_depth as usize;
        let mut running: Vec<Running> = probe
            .places
            .iter()
            .map(|(target, _)| Running {
                session: Session::new(&self.disks[*target], depth, probe.block_bytes as usize)
                    .unwrap(),
                next_block: 0,
                started_ns: vec![0; depth],
                seen: Observation {
                    active_ns: probe.time_ns,
                    per_second_ios: vec![
                        0;
                        usize::try_from(probe.time_ns / 1_000_000_000).unwrap()
                    ],
                    ..Observation::default()
                },
                latency_sum_ns: 0.0,
                computed_ns: 0,
            })
            .collect();
        let mut events = BinaryHeap::new();
        for slot in 0..depth {
            for at in 0..running.len() {
                self.submit(probe, &mut running, (at, slot), &mut events);
            }
        }
        let mut last_ns = close_ns;
        while let Some(Reverse((now_ns, at, slot))) = events.pop() {
            last_ns = last_ns.max(now_ns);
            if now_ns >= close_ns {
                continue; // What is in flight at the end is waited for.
            }
            self.clock.advance(now_ns - self.clock.now_ns());
            if now_ns >= open_ns {
                let run = &mut running[at];
                run.seen.ios += 1;
                run.seen.bytes += u64::from(probe.block_bytes);
                run.latency_sum_ns += (now_ns - run.started_ns[slot]) as f64;
                let second = usize::try_from((now_ns - open_ns) / 1_000_000_000).unwrap();
                if let Some(count) = run.seen.per_second_ios.get_mut(second) {
                    *count += 1;
                }
            }
            self.submit(probe, &mut running, (at, slot), &mut events);
        }
        self.clock.advance(last_ns + BETWEEN_NS - self.clock.now_ns());
        self.spent_ns += self.clock.now_ns() - begin_ns;
        Ok(running
            .into_iter()
            .map(|run| Observation {
                mean_latency_ns: run.latency_sum_ns / run.seen.ios.max(1) as f64,
                busy: self.cpu.map(|cpu| {
                    let computed_ns = cpu.of_io(probe.block_bytes) * run.seen.ios as f64;
                    computed_ns / run.seen.active_ns as f64
                }),
                ..run.seen
            })
            .collect())
    }

    fn pause(&mut self, pause_ns: u64) -> Result<(), Ended> {
        self.clock.advance(pause_ns);
        self.spent_ns += pause_ns;
        Ok(())
    }
}

impl VirtualTime {
    fn submit(
        &mut self,
        probe: &Probe,
        running: &mut [Running],
        (at, slot): (usize, usize),
        events: &mut BinaryHeap<Reverse<(u64, usize, usize)>>,
    ) {
        let (_, region) = probe.places[at];
        let blocks = region.bytes / u64::from(probe.block_bytes);
        let run = &mut running[at];
        let block = run.next_block % blocks;
        run.next_block += 1;
        let offset = region.offset_bytes + block * u64::from(probe.block_bytes);
        let now_ns = self.clock.now_ns();
        run.started_ns[slot] = now_ns;
        let request = Request::read(offset, probe.block_bytes as usize);
        let Submitted::Done(done) = run.session.submit(slot, request) else {
            panic!("a layer with threads has no place in virtual time");
        };
        done.result.unwrap();
        // Other work takes no virtual time; some tiny time passes, or nothing would ever go on.
        let mut ready_ns = done.ready_at_ns.max(now_ns + 1_000);
        if let Some(cpu) = self.cpu {
            let cost_ns = cpu.of_io(probe.block_bytes) as u64;
            ready_ns = ready_ns.max(run.computed_ns) + cost_ns;
            run.computed_ns = ready_ns;
        }
        events.push(Reverse((ready_ns, at, slot)));
    }
}
