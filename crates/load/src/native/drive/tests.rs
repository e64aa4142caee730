//! The loop against a simulated engine, in virtual time.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use iotax_experiment::{Job, Pace, Think};
use iotax_vdisk::ManualClock;

use super::*;
use crate::driver::LoadProgress;
use crate::engine::stop::StopFlags;
use crate::engine::testing::job;
use crate::engine::window::{Turn, Window};

const MS: u64 = 1_000_000;

/// Answers every I/O after `service_ns` of virtual time, at once (then time passes inside
/// `submit`) or later.
struct Simulated {
    clock: Arc<ManualClock>,
    service_ns: u64,
    later: bool,
    pending: Vec<(u64, u32, Io)>,
    most_in_flight: usize,
    buffer: Vec<u8>,
}

impl Engine for Simulated {
    const SUBMIT_COSTS: bool = false;

    fn submit(&mut self, slot: u32, io: Io) -> Submitted {
        if !self.later {
            self.clock.advance(self.service_ns);
            return Submitted::Done(Ok(io.bytes));
        }
        self.pending.push((self.clock.now_ns() + self.service_ns, slot, io));
        self.most_in_flight = self.most_in_flight.max(self.pending.len());
        Submitted::InFlight
    }

    fn wait(&mut self, deadline: Deadline) {
        let first = self.pending.iter().map(|pending| pending.0).min().unwrap();
        self.clock.sleep_until(first.min(deadline.until_ns));
    }

    fn reap(&mut self, now_ns: u64, mut completed: impl FnMut(u32, Outcome)) {
        self.pending.retain(|(done_ns, slot, io)| {
            if *done_ns <= now_ns {
                completed(*slot, Ok(io.bytes));
            }
            *done_ns > now_ns
        });
    }

    fn write_buffer(&mut self, _: u32, bytes: u32) -> &mut [u8] {
        &mut self.buffer[..bytes as usize]
    }

    fn read_buffer(&mut self, _: u32) -> &[u8] {
        &self.buffer
    }
}

/// What is counted in a window of 1 s after 100 ms, and the most I/Os in flight.
fn simulate(job: &Job, service_ns: u64, later: bool) -> (TallyFacts, usize) {
    let clock = Arc::new(ManualClock::starting_at(5 * MS));
    let never = AtomicBool::new(false);
    let start_ns = 10 * MS;
    let window = Window { open_ns: start_ns + 100 * MS, close_ns: start_ns + 1100 * MS };
    let flags = StopFlags { user: &never, broken: &never, ended: &never };
    let schedule = match job.pace {
        Pace::Closed => None,
        Pace::Even { iops } => Some(Schedule::even(start_ns, iops, 0, 1)),
        Pace::Poisson { iops } => Some(Schedule::poisson(start_ns, iops, 1, 4)),
    };
    let open = schedule.is_some();
    let mut worker = Worker {
        accesses: Accesses::new(job, Span { start: 0, bytes: 1 << 20 }, 1),
        schedule,
        tally: Tally::new(job, window, Turn::of(job, start_ns), flags, None),
        verifier: WriteVerifier::new(1),
        verify_ends: false,
        io_errors: IoErrors::new(vec!["simulated".to_owned()]),
        slots: Slots::new(job.queue_depth),
        span: Span { start: 0, bytes: 1 << 20 },
        think_ns: job.think.map_or(0, |think| think.time_ns),
        resume_ns: 0,
        search: job.latency_target.map(|of| Search::new(of, job.queue_depth, start_ns)),
        flow: None,
    };
    clock.sleep_until(start_ns);
    let mut engine = Simulated {
        clock: Arc::clone(&clock),
        service_ns,
        later,
        pending: Vec::new(),
        most_in_flight: 0,
        buffer: vec![0; 4096],
    };
    if open {
        drive::<_, _, true>(&mut engine, &*clock, &mut worker);
    } else {
        drive::<_, _, false>(&mut engine, &*clock, &mut worker);
    }
    assert!(worker.slots.none_taken() && engine.pending.is_empty());
    let (in_flight_io_ns, max_slip_ns) = (worker.tally.in_flight_io_ns, worker.tally.max_slip_ns);
    let active_ns = worker.tally.active.1 - worker.tally.active.0;
    let read = worker.tally.counts[0].take();
    (TallyFacts { read, in_flight_io_ns, max_slip_ns, active_ns }, engine.most_in_flight)
}

struct TallyFacts {
    read: iotax_record::DirectionRecord,
    in_flight_io_ns: u64,
    max_slip_ns: u64,
    active_ns: u64,
}

fn paced(pace: Pace, queue_depth: u32) -> Job {
    Job { pace, queue_depth, ..job() }
}

#[test]
fn a_closed_loop_keeps_its_depth_in_flight() {
    for (later, depth, expected) in [(false, 1, 1000), (true, 1, 1000), (true, 8, 8000)] {
        let (facts, most) = simulate(&paced(Pace::Closed, depth), MS, later);
        assert_eq!(facts.read.ios, expected);
        assert_eq!(facts.read.per_second_ios, [u32::try_from(expected).unwrap()]);
        assert_eq!(facts.in_flight_io_ns, u64::from(depth) * 1000 * MS);
        assert_eq!(most, if later { depth as usize } else { 0 });
        assert_eq!(facts.read.service.max_ns() / MS, 1);
    }
}

#[test]
fn a_job_with_an_end_of_its_own_stops_there() {
    // The trial's window is from 100 ms to 1100 ms of the job's own time.
    let cases = [(600, 500, 1), (60, 0, 0), (100, 0, 0), (1100, 1000, 1), (9000, 1000, 1)];
    for (end_ms, counted_ms, seconds) in cases {
        for (later, depth) in [(false, 1), (true, 1), (true, 8)] {
            let end_after_ns = Some(end_ms * MS);
            let job = Job { end_after_ns, ..paced(Pace::Closed, depth) };
            let (facts, _) = simulate(&job, MS, later);
            let expected = counted_ms * u64::from(depth);
            assert_eq!(facts.read.ios, expected, "{end_ms} ms, {depth} deep");
            assert_eq!(facts.in_flight_io_ns, expected * MS, "{end_ms} ms, {depth} deep");
            assert_eq!(facts.read.per_second_ios.len(), seconds, "{end_ms} ms");
            assert_eq!(facts.active_ns, counted_ms * MS, "{end_ms} ms");
        }
    }
}

#[test]
fn a_pause_begins_when_nothing_is_in_flight_and_is_no_part_of_a_latency() {
    // 8 I/Os of 1 ms, then 3 ms of thought: alone that is 11 ms, 8 at a time 4 ms.
    for (later, depth, round_ms) in [(false, 1, 11), (true, 1, 11), (true, 8, 4)] {
        let think = Some(Think { time_ns: 3 * MS, after_ios: 8 });
        let (facts, _) = simulate(&Job { think, ..paced(Pace::Closed, depth) }, MS, later);
        let expected = 1000 / round_ms * 8;
        assert!(facts.read.ios.abs_diff(expected) <= 8, "{} {expected}", facts.read.ios);
        assert_eq!(facts.read.service.max_ns() / MS, 1);
        let in_flight_ms = facts.in_flight_io_ns / MS;
        assert!(in_flight_ms.abs_diff(facts.read.ios) <= 8, "{in_flight_ms}");
    }
}

#[test]
fn an_open_loop_starts_each_io_when_it_is_meant_to() {
    for later in [false, true] {
        let (facts, most) = simulate(&paced(Pace::Even { iops: 500.0 }, 4), MS, later);
        assert_eq!(facts.read.ios, 500);
        assert_eq!((facts.max_slip_ns, most), (0, usize::from(later)));
        assert_eq!(facts.in_flight_io_ns, 500 * MS);
        let response = facts.read.response.unwrap();
        assert_eq!(response.max_ns(), facts.read.service.max_ns());
    }
}

#[test]
fn an_overloaded_open_loop_skips_nothing_and_shows_the_wait_in_the_response() {
    // Offered 2000 per second, served 1000: after 1.1 s the backlog is 1100 deep, half a
    // millisecond apart, and the last I/O has waited 550 ms.
    for (later, service_ns, depth) in [(false, MS, 1), (true, 4 * MS, 4)] {
        let (facts, most) = simulate(&paced(Pace::Even { iops: 2000.0 }, depth), service_ns, later);
        assert!(facts.read.ios.abs_diff(1000) <= 4);
        assert!(most <= depth as usize);
        let slip_ms = facts.max_slip_ns / MS;
        assert!((540..=551).contains(&slip_ms), "{slip_ms}");
        assert!(facts.read.service.max_ns() < 5 * MS);
        assert!(facts.read.response.unwrap().max_ns() > 500 * MS);
    }
}

#[test]
fn poisson_arrivals_that_meet_a_busy_server_wait_as_in_an_m_d_1_queue() {
    // Mean wait of M/D/1: rho * s / (2 * (1 - rho)) (Pollaczek and Khinchine).
    let (rate, service_ns) = (50_000.0, 10_000);
    let (facts, _) = simulate(&paced(Pace::Poisson { iops: rate }, 1), service_ns, false);
    let rho = rate * service_ns as f64 / 1e9;
    let expected = service_ns as f64 * (1.0 + rho / (2.0 * (1.0 - rho)));
    let mean = facts.read.response.unwrap().mean_ns();
    assert!((mean / expected - 1.0).abs() < 0.1, "{mean} instead of {expected}");
}

/// Ctrl-C in the ramp: what was shown of it stays shown, and nothing of it is counted.
#[test]
fn a_load_that_ends_in_its_ramp_shows_what_it_did() {
    let (never, live) = (AtomicBool::new(false), LoadProgress::default());
    let flags = StopFlags { user: &never, broken: &never, ended: &never };
    let window = Window { open_ns: 100 * MS, close_ns: 1100 * MS };
    let mut tally = Tally::new(&job(), window, Turn::of(&job(), 0), flags, Some(&live));
    let io = Io { bytes: 4096, op: Op::Read, ..Io::SYNC };
    for at_ns in [10 * MS, 20 * MS] {
        tally.completed::<false>(io, at_ns - MS, at_ns - MS, at_ns);
        tally.on_edge(at_ns);
    }
    tally.completed::<false>(io, 29 * MS, 29 * MS, 30 * MS);
    tally.finish(30 * MS, false);
    assert_eq!((live.ios(), live.bytes()), (3, 3 * 4096));
    assert_eq!(tally.counts.iter().map(|counts| counts.ios).sum::<u64>(), 0);
}
