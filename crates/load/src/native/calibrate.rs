//! Measures the CPU cost of an I/O in the load generator itself.

use std::sync::atomic::AtomicBool;

use iotax_experiment::{Engine, Job, Pattern};
use iotax_vdisk::Clock as _;

use super::drive::drive;
use super::worker::worker;
use crate::counters::Usage;
use crate::engine::TscClock;
use crate::engine::access::Seat;
use crate::engine::engines::null::Null;
use crate::engine::stop::StopFlags;
use crate::engine::thread::Thread;
use crate::engine::window::{Tally, Turn, Window};
use crate::error::Error;
use crate::file_assignment::{Span, TestFile};
use crate::target::IoTarget;

const TIME_NS: u64 = 50_000_000;

/// Nanoseconds of CPU that the generator needs per I/O on this machine now: 4 KiB random reads on
/// the engine `null`, for about 50 ms on the calling thread.
///
/// Measured latencies of the order of this figure say more about the generator than about the
/// target.
pub fn calibrate() -> f64 {
    // Only buffers can be refused, and one page never is in a process that still works; then
    // nothing is known, which is what a figure that is not a number says.
    measure().unwrap_or(f64::NAN)
}

fn measure() -> Result<f64, Error> {
    let job = job();
    let (path, bytes) = ("null".into(), job.size_bytes);
    let file = TestFile { path, bytes, read: true, ..TestFile::default() };
    let thread = Thread {
        job: &job,
        job_index: 0,
        index: 0,
        seat: Seat::default(),
        target: IoTarget::Path(&file.path),
        engine: Engine::Null,
        files: vec![&file],
        span: Span { start: 0, bytes: job.size_bytes },
        number: 0,
        seed: 1,
        sharing: [].into(),
    };
    let never = AtomicBool::new(false);
    let clock = TscClock::anchored_now();
    let mut engine = Null::of(&thread)?;
    let start_ns = clock.now_ns();
    let window = Window { open_ns: start_ns, close_ns: start_ns + TIME_NS };
    let flags = StopFlags { user: &never, broken: &never, ended: &never };
    let tally = Tally::new(&job, window, Turn::of(&job, start_ns), flags, None);
    let mut worker = worker(&thread, start_ns, tally);
    let before = Usage::of_this_thread();
    drive::<_, _, false>(&mut engine, &clock, &mut worker);
    let cpu_ns = Usage::of_this_thread().since(&before).cpu_ns;
    Ok(cpu_ns as f64 / worker.tally.counts[0].ios.max(1) as f64)
}

fn job() -> Job {
    Job {
        engine: Engine::Null,
        pattern: Pattern::Random,
        size_bytes: 1 << 30,
        advise: false,
        ..Job::new("calibration")
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_generator_needs_some_time_per_io_but_not_much() {
        let ns = super::calibrate();
        assert!(ns > 0.1 && ns < 100_000.0, "{ns}");
    }
}
