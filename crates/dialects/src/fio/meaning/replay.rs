//! Jobs that replay a log (`read_iolog`): the log says what is read and written, and when, so most
//! other options of the job have no meaning. As fio 3.33 reads them (`iolog.c`, `blktrace.c`).

use iotax_experiment::Error;
use iotax_experiment::units::format_duration;

use super::draft::{Chosen, Draft, Timing};
use super::places::{REPLACED, split_names};
use crate::fio::options::{Class, ValueKind};
use crate::fio::section::{Include, Logs, Replayed, Setting};

/// What the log itself says, or what only other jobs have.
const IN_THE_LOG: &str = "has no effect, because the log names the files and I/Os";
const LOG_OPTIONS: [&str; 22] = [
    "rw",
    "bs",
    "bsrange",
    "bssplit",
    "ba",
    "size",
    "io_size",
    "filesize",
    "offset",
    "offset_increment",
    "nrfiles",
    "filename",
    "filename_format",
    "file_service_type",
    "rwmixread",
    "rwmixwrite",
    "rw_sequencer",
    "norandommap",
    "random_distribution",
    "percentage_random",
    "fadvise_hint",
    "invalidate",
];
/// Options with another reason.
const WITHOUT_EFFECT: [(&str, &str); 3] = [
    ("time_based", "has no effect, because a trial is one replay of the log"),
    ("read_iolog_chunked", "has no effect, because iotax always reads logs in parts"),
    ("iodepth_batch", "has no effect, because iotax submits each I/O separately"),
];
/// Read by the code below, or by that of phases.
const READ: [&str; 16] = [
    "name", "read_iolog", "replay_no_stall", "replay_redirect", "numjobs", "direct", "buffered",
    "directory", "ioengine", "iodepth", "io_submit_mode", "runtime", "stonewall", "wait_for",
    // The job is alone.
    "exitall", "exit_what",
];
/// fio's limit on jobs.
const MOST_THREADS: usize = 4096;
const LEAVE_OUT: &str = "leave it out";
/// Options that would change the log, and what to do instead.
const CHANGES: [(&str, &str, &str, &str); 8] = [
    (
        "replay_time_scale",
        "100",
        "changes the speed of the log, which is then no longer the load of the application",
        "leave it out; for more load, replay several copies with numjobs",
    ),
    (
        "replay_scale",
        "0|1",
        "changes the offsets of the log",
        "leave it out, and name a target that is as large as the recorded device",
    ),
    (
        "replay_align",
        "0|1",
        "changes the offsets of the log",
        "leave it out, and name a target with the same block size as the recorded device",
    ),
    (
        "replay_skip",
        "",
        "leaves out I/Os of the log",
        "leave it out, or remove these lines from the log",
    ),
    (
        "merge_blktrace_file",
        "",
        "merges several traces",
        "leave it out; to merge the files of all CPUs, use iotax capture import",
    ),
    (
        "merge_blktrace_scalars",
        "",
        "changes the speed of traces",
        "leave it out; iotax replays a trace at its own speed",
    ),
    ("merge_blktrace_iters", "", "repeats traces", "leave it out; a trial is one replay"),
    ("loops", "0|1", "repeats the log", "leave it out; a trial is one replay"),
];

/// The job of a section with `read_iolog`.
pub(super) fn replayed<'a>(
    chosen: Chosen<'a>,
    log: &'a Setting,
    outside: Include<'_>,
) -> Result<Draft<'a>, Error> {
    let job = iotax_experiment::Job::new(chosen.section.name.clone());
    let mut draft = Draft { chosen, job, timing: Timing::default(), notes: Vec::new() };
    draft.check_options_of_replay()?;
    let logs = draft.logs(log)?;
    let replayed = outside.recording(&logs).map_err(|why| log.refuse_value(&why, ""))?;
    draft.check_replay(&replayed)?;
    let Replayed { workload, .. } = replayed;
    let name = std::mem::take(&mut draft.job.name);
    draft.timing.runtime_ns = Some(workload.time_ns);
    draft.notes.extend(workload.notes);
    if let Some(job) = workload.jobs.into_iter().next() {
        draft.job = iotax_experiment::Job { name, ..job };
    }
    Ok(draft)
}

impl<'a> Draft<'a> {
    fn check_options_of_replay(&mut self) -> Result<(), Error> {
        let settings: Vec<&'a Setting> = self.chosen.all().collect();
        for setting in settings {
            self.note_variables(setting);
            let name = setting.name();
            let value = setting.value.as_deref().unwrap_or("1");
            let is_one_of = |usual: &str| usual.split('|').any(|word| word == value);
            if let Some((_, usual, problem, advice)) =
                CHANGES.iter().find(|(known, ..)| *known == name)
            {
                if !is_one_of(usual) {
                    return Err(setting.refuse(problem, *advice));
                }
            } else if let Some((_, note)) = WITHOUT_EFFECT.iter().find(|(known, _)| *known == name)
            {
                self.note(setting, note);
            } else if LOG_OPTIONS.contains(&name) {
                self.note(setting, IN_THE_LOG);
            } else if !READ.contains(&name) {
                match setting.option.class {
                    Class::Silent | Class::Kept => {}
                    Class::Noted { unless, .. } | Class::Beyond { unless, .. }
                        if is_one_of(unless) => {}
                    Class::Noted { note, .. } => self.note(setting, note),
                    // Zero is the default of everything but a list of CPUs or nodes.
                    Class::Meaning if value == "0" && setting.option.kind != ValueKind::Text => {}
                    Class::Meaning | Class::Beyond { .. } => {
                        let problem = "is not supported together with read_iolog";
                        return Err(setting.refuse(problem, LEAVE_OUT));
                    }
                }
            }
        }
        self.check_engine_of_replay()
    }

    /// Engines that read and write files; the replay uses its own.
    fn check_engine_of_replay(&mut self) -> Result<(), Error> {
        let Some(setting) = self.chosen.get("ioengine") else { return Ok(()) };
        match setting.value.as_deref().unwrap_or_default() {
            "psync" | "sync" | "pvsync" | "pvsync2" | "vsync" => {}
            "libaio" | "posixaio" | "io_uring" | "windowsaio" => {
                self.note(setting, "iotax uses synchronous calls");
            }
            _ => {
                let problem = "is not supported together with read_iolog";
                let advice = "leave it out; iotax replays logs with its own engine";
                return Err(setting.refuse_value(problem, advice));
            }
        }
        Ok(())
    }

    /// Each thread of the job has the next log, and starts again with the first.
    fn logs(&mut self, setting: &Setting) -> Result<Logs, Error> {
        let names = split_names(setting.value.as_deref().unwrap_or_default());
        if names.is_empty() || names.iter().any(|name| name == "-") {
            let advice = "name a file, as in read_iolog=app.log";
            return Err(setting.refuse_value("is not the name of a file", advice));
        }
        let threads = self.threads_of_replay()?;
        if threads < names.len() {
            let note = format!("only the first {threads} of {} logs, as in fio", names.len());
            self.note(setting, &note);
        }
        let paths = names.iter().cycle().take(threads).cloned().collect();
        let buffered = self.chosen.last_of(&["direct", "buffered"]);
        let direct = match buffered {
            None => false,
            Some(setting) => setting.boolean()? == (setting.name() == "direct"),
        };
        let no_stall = self.chosen.switch("replay_no_stall", false)?;
        Ok(Logs { paths, direct, no_stall })
    }

    fn threads_of_replay(&self) -> Result<usize, Error> {
        let Some(setting) = self.chosen.get("numjobs") else { return Ok(1) };
        let threads = setting.small()?.max(1) as usize;
        if threads > MOST_THREADS {
            let advice = format!("use at most {MOST_THREADS}, as in fio");
            return Err(setting.refuse_value("is out of range", advice));
        }
        Ok(threads)
    }

    /// Checks what depends on the log.
    fn check_replay(&mut self, replayed: &Replayed) -> Result<(), Error> {
        if let Some(setting) = self.chosen.get("directory") {
            self.note(setting, REPLACED);
        }
        if let Some(setting) = self.chosen.get("replay_redirect") {
            if replayed.files > 1 {
                let problem = format!("the log uses {} files", replayed.files);
                let advice = "leave it out, and name a directory as the target: iotax keeps the \
                              files apart";
                return Err(setting.refuse(&problem, advice));
            }
            self.note(setting, REPLACED);
        }
        self.check_depth_of_replay(replayed)?;
        let Some(setting) = self.chosen.get("runtime") else { return Ok(()) };
        let (runtime_ns, length_ns) = (setting.duration_ns()?, replayed.workload.time_ns);
        if runtime_ns > 0 && runtime_ns < length_ns {
            let length = format_duration(length_ns);
            let problem = format!("the log takes {length}, and iotax replays all of it");
            return Err(setting.refuse_value(&problem, "leave it out, or shorten the log"));
        }
        self.note(setting, "iotax replays the whole log, which is shorter");
        Ok(())
    }

    fn check_depth_of_replay(&mut self, replayed: &Replayed) -> Result<(), Error> {
        let Some(setting) = self.chosen.get("iodepth").filter(|_| self.has_depth()) else {
            return Ok(());
        };
        if setting.small()? <= 1 {
            return Ok(());
        }
        if replayed.is_block_trace {
            let note = "iotax keeps as many I/Os in flight as the trace, but at most 64";
            self.note(setting, note);
            return Ok(());
        }
        let problem = "iotax replays each log one I/O at a time, because a log does not say which \
                       I/Os were in flight together";
        let advice = "leave it out, or give each of several threads its own log: \
                      read_iolog=a.log:b.log with numjobs=2";
        Err(setting.refuse(problem, advice))
    }

    /// Whether fio could keep several I/Os in flight.
    fn has_depth(&self) -> bool {
        let engine = self.chosen.get("ioengine").and_then(|setting| setting.value.as_deref());
        let is_async = |engine: &str| matches!(engine, "libaio" | "posixaio" | "io_uring");
        let offloads = self.chosen.word("io_submit_mode") == Some("offload");
        engine.is_some_and(is_async) || offloads
    }
}
