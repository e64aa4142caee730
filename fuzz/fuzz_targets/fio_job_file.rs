//! No job file of fio makes the reader panic, each value it takes reads, and each replay of a log
//! is one that can run.
#![no_main]

use iotax_dialects::fio::written::read_job_file;
use iotax_dialects::fio::{Logs, Outside, Replayed, from_job_file};
use iotax_experiment::{Arrivals, Engine, FioLogs, Job, Pattern, RecordedLoad, Uncut, Workload};
use libfuzzer_sys::fuzz_target;

/// Files that include each other, one with options, and logs of a second.
struct Shelf;

impl Outside for Shelf {
    fn file(&self, name: &str) -> Result<String, String> {
        match name {
            "a" => Ok("include b\nbs=4k\n".to_owned()),
            "b" => Ok("iodepth=2\ninclude a\n".to_owned()),
            "c" => Ok("direct=1\n".to_owned()),
            _ => Err("no such file".to_owned()),
        }
    }

    fn recording(&self, logs: &Logs) -> Result<Replayed, String> {
        assert!(!logs.paths.is_empty() && logs.paths.iter().all(|path| !path.is_empty()));
        let recording = RecordedLoad {
            path: "/a.log".into(),
            hash: String::new(),
            length_ns: 1_000_000_000,
            threads: 1,
            requests: 0,
            waits_for_syncs: false,
            allow_loss: false,
            arrivals: Arrivals::default(),
            copies: 1,
            parts: 1,
            uncut: Some(Uncut::Short),
            writes: true,
            device_bytes: None,
            logs: Some(FioLogs {
                others: Vec::new(),
                direct: logs.direct,
                no_stall: logs.no_stall,
            }),
        };
        let job = Job {
            engine: Engine::Replay,
            pattern: Pattern::Random,
            advise: false,
            recording: Some(recording),
            ..Job::new("replay")
        };
        let workload = Workload { time_ns: 1_000_000_000, ..Workload::new("replay", vec![job]) };
        Ok(Replayed { workload, files: logs.paths.len(), is_block_trace: false })
    }
}

fuzz_target!(|text: &str| {
    if let Ok(sections) = read_job_file("fuzz.fio", text, &Shelf) {
        assert!(!sections.is_empty(), "a file without jobs is refused");
    }
    for phase in from_job_file("fuzz.fio", text, &Shelf).unwrap_or_default() {
        if phase.is_recorded() {
            phase.validate().expect("a log is replayed as it is");
        }
    }
});
