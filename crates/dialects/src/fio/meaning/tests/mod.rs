//! The meaning of options, by family, tested on the resulting job.

mod load;
mod phases;
mod place;
mod refused;
mod replay;
mod whole;

use std::fmt::Write as _;

use iotax_experiment::units::format_duration;
use iotax_experiment::{Error, Job, Workload};

fn no_include(name: &str) -> Result<String, String> {
    Err(format!("{name} is not there"))
}

fn read(text: &str) -> Result<Vec<Workload>, Error> {
    crate::fio::from_job_file("test.fio", text, &no_include)
}

/// The difference from a job with only `runtime`: one line per job, its options for fio, and the
/// notes without their position.
fn job(options: &str) -> String {
    let text = format!("[a]\nsize=1g\ntime_based\nruntime=10\n{options}\n");
    let mut shown = String::new();
    for workload in read(&text).unwrap_or_else(|error| panic!("{error}")) {
        for job in &workload.jobs {
            let _ = writeln!(shown, "{}", difference(job));
        }
        for note in &workload.notes {
            let _ = writeln!(shown, "note: {}", note.split_once(": ").unwrap().1);
        }
    }
    shown.trim_end().to_owned()
}

/// Keys of the job's record that differ from those of a job without options.
fn difference(job: &Job) -> String {
    let plain = Job { invalidate: true, ..Job::new(job.name.clone()) };
    let plain = serde_json::to_value(plain).unwrap();
    let serde_json::Value::Object(own) = serde_json::to_value(job).unwrap() else { panic!() };
    let mut parts = Vec::new();
    for (key, value) in own {
        if key != "fio" && plain.get(&key) != Some(&value) {
            parts.push(format!("{key}={}", value.to_string().replace('"', "")));
        }
    }
    for option in &job.fio {
        let value = option.value.as_deref().map(|value| format!("={value}")).unwrap_or_default();
        let what = option.beyond.as_deref().unwrap_or("kept");
        parts.push(format!("[{}{value}: {what}]", option.name));
    }
    if parts.is_empty() { "as usual".into() } else { parts.join(" ") }
}

/// Phases with their times, jobs and notes.
fn phases(text: &str) -> String {
    let mut shown = String::new();
    for workload in read(text).unwrap_or_else(|error| panic!("{error}")) {
        let (ramp, time) = (format_duration(workload.ramp_ns), format_duration(workload.time_ns));
        let _ = writeln!(shown, "{}: {ramp} ramp, {time}", workload.name);
        for job in &workload.jobs {
            let _ = writeln!(shown, "  {}: {}", job.name, difference(job));
        }
        for note in &workload.notes {
            let _ = writeln!(shown, "  note: {note}");
        }
    }
    shown.trim_end().to_owned()
}

fn error(text: &str) -> String {
    match read(text) {
        Err(error) => error.to_string(),
        Ok(workloads) => {
            let native = crate::fio::require_native(workloads.iter());
            native.expect_err("it is refused").to_string()
        }
    }
}
