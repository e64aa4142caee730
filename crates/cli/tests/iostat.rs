//! Counters of the machine beside the load: `--iostat`, and agreement with the real iostat.
#![allow(clippy::unwrap_used)]

mod support;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use iotax_record::{CPU_MODES, Counters, DISK_COUNTERS, ExperimentHead, Reader, Series, Trial};
use iotax_testing::{needs, needs_program, needs_root, skipped};
use support::Desk;

const RUN: [&str; 9] =
    ["run", "randread-4k", "file(size=16M)", "--time", "1200ms", "--ramp", "100ms", "--out", "r"];

#[test]
fn tables_of_iostat_are_printed_after_each_trial() {
    let desk = Desk::new();
    let said = desk.run(&[&RUN[..], &["--iostat", "-n", "2"]].concat());
    assert_eq!(said.code, 0, "{said}");
    for number in 1..=2 {
        let head = format!("Trial {number}, block {number}, arm target, measured from ");
        assert_eq!(said.out.matches(&head).count(), 1, "{said}");
    }
    assert!(said.out.matches("\navg-cpu:  %user   %nice").count() >= 2, "{said}");
    assert!(said.out.matches("\nDevice            r/s     rMB/s").count() >= 2, "{said}");
    assert!(said.out.contains("\nReport: r/report.html"), "the results follow: {said}");
}

#[test]
fn without_being_asked_for_tables_are_kept_in_the_record_only() {
    let desk = Desk::new();
    let said = desk.run(&RUN);
    assert_eq!(said.code, 0, "{said}");
    assert!(!said.out.contains("avg-cpu"), "{said}");
    let trials: Vec<Trial> = Reader::<ExperimentHead>::open(&desk.path().join("r"))
        .unwrap()
        .lines()
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let counters = trials[0].counters.as_ref().unwrap();
    assert!(counters.at_ns.len() >= 2 && counters.at_ns.is_sorted());
    let [opened, closed] = counters.window_ns.unwrap();
    assert!(opened < closed);
    assert!(counters.cpu_ticks.is_some() && counters.sampler_cpu_ns > 0);
    let reads = |device: &iotax_record::DeviceCounters| {
        let last = counters.at_ns.len() - 1;
        device.counters[0].at(last).unwrap() - device.counters[0].at(0).unwrap()
    };
    // A file on a disk, unless this runs on tmpfs, overlay or the like.
    match counters.devices.first() {
        Some(device) => assert!(reads(device) > 0, "{device:?} was read"),
        None => skipped("the build directory lies on no block device"),
    }
}

#[test]
fn tables_do_not_go_with_formats_for_programs() {
    let desk = Desk::new();
    for format in ["json", "csv", "markdown"] {
        let said = desk.run(&[&RUN[..], &["--iostat", "--format", format]].concat());
        insta::allow_duplicates! {
            insta::assert_snapshot!(said, @r"
            error: --iostat works only with --format text; leave out --format or --iostat (the record contains the samples in any case)
            [exit 2]
            ");
        }
    }
    assert_eq!(desk.names(), [""; 0], "nothing was made");
}

/// Devices whose counters have a story.
fn snapshots() -> [String; 2] {
    let mut state = 42_u64;
    let mut random = move |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut texts = [String::new(), String::new()];
    for device in 0..120 {
        let mut before: [u64; DISK_COUNTERS] = std::array::from_fn(|_| random(1_000_000));
        let mut after = before;
        let most = [1, 10, 1_000, 3_000_000][device % 4];
        for counter in &mut after {
            *counter += random(most);
        }
        match device % 10 {
            // Times wrap around.
            0 => {
                for time in [3, 7, 9, 10, 14, 16] {
                    before[time] = u64::from(u32::MAX) - random(50);
                    after[time] = random(100_000);
                }
            }
            // Unplugged, and plugged in again.
            1 => after = std::array::from_fn(|i| before[i] / 2),
            // Never used: iostat does not show it, unless asked for all there are.
            2 => (before, after) = ([0; DISK_COUNTERS], [0; DISK_COUNTERS]),
            // Idle.
            3 => after = before,
            _ => {}
        }
        for (text, counters) in texts.iter_mut().zip([before, after]) {
            let counters: Vec<String> = counters.iter().map(u64::to_string).collect();
            writeln!(text, "{:4} {device:7} dev{device} {}", 250, counters.join(" ")).unwrap();
        }
    }
    texts
}

/// What the real iostat prints in its second report, if its first reading of `/proc` is the first
/// of each pair and its second reading the second. Pipes stand for the files: iostat opens them
/// one after the other, so that which reading is under way is known without any clock.
fn real_iostat(dir: &Path, files: [(&'static str, [String; 2]); 3]) -> String {
    let mut script = String::from("set -e\n");
    for (name, _) in &files {
        let pipe = dir.join(name);
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        writeln!(script, "mount --bind '{}' /proc/{name}", pipe.display()).unwrap();
    }
    script += "exec iostat -mxt -p ALL 1 2\n";
    let iostat = Command::new("unshare")
        .args(["-m", "sh", "-c", &script])
        .env("S_TIME_FORMAT", "ISO")
        .env("LC_ALL", "C")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let guard = Watched(iostat);
    let pipes = files.clone().map(|(name, _)| dir.join(name));
    let writer = std::thread::spawn(move || {
        for reading in 0..2 {
            for ((_, texts), pipe) in files.iter().zip(&pipes) {
                fs::write(pipe, &texts[reading]).unwrap();
            }
        }
    });
    let printed = guard.output();
    writer.join().unwrap();
    printed
}

/// Killed if it does not end by itself: one reading too few, and it waits for ever.
struct Watched(Child);

impl Watched {
    fn output(mut self) -> String {
        let id = self.0.id().to_string();
        let (done, ended) = std::sync::mpsc::channel::<()>();
        let watch = std::thread::spawn(move || {
            if ended.recv_timeout(Duration::from_mins(2)).is_err() {
                Command::new("kill").args(["-9", &id]).status().unwrap();
            }
        });
        let mut out = String::new();
        std::io::Read::read_to_string(&mut self.0.stdout.take().unwrap(), &mut out).unwrap();
        self.0.wait().unwrap();
        let _ = done.send(());
        watch.join().unwrap();
        out
    }
}

fn is_root_with_iostat() -> bool {
    // For bind mounts over /proc.
    if !needs_root() || !needs_program("iostat") {
        return false;
    }
    let version = Command::new("iostat").arg("-V").output().unwrap();
    needs(String::from_utf8_lossy(&version.stdout).contains("version 12.6"), "sysstat 12.6")
}

fn of_snapshots(uptime: &[&str; 2], stat: &[String; 2], diskstats: &[String; 2]) -> Counters {
    let names: Vec<String> = diskstats[0]
        .lines()
        .map(|line| line.split_whitespace().nth(2).unwrap().to_owned())
        .collect();
    let read = diskstats.each_ref().map(|text| iotax_inspect::disk_counters(text, &names));
    let ticks = stat.each_ref().map(|text| iotax_inspect::cpu_ticks(text).unwrap());
    let devices = names.iter().enumerate().map(|(i, name)| iotax_record::DeviceCounters {
        targets: Vec::new(),
        name: name.clone(),
        model: None,
        counters: Box::new(std::array::from_fn(|counter| {
            read.iter().map(|devices| Some(devices[i].unwrap()[counter])).collect()
        })),
    });
    let column = |mode: usize| -> Series { ticks.iter().map(|ticks| Some(ticks[mode])).collect() };
    Counters {
        at_ns: uptime.map(|text| text.replace('.', "").parse::<u64>().unwrap() * 10_000_000).into(),
        devices: devices.collect(),
        cpu_ticks: Some(Box::new(std::array::from_fn::<_, CPU_MODES, _>(column))),
        ..Counters::default()
    }
}

/// The tables, without their time stamps and in the order of devices: iostat has its own.
fn tables(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::to_owned);
    let mut lines: Vec<String> = lines.filter(|line| !line.starts_with("20")).collect();
    lines.retain(|line| !line.is_empty());
    lines.sort();
    lines
}

#[test]
fn figures_are_byte_for_byte_those_of_the_real_iostat() {
    if !is_root_with_iostat() {
        return;
    }
    let desk = Desk::new();
    let diskstats = snapshots();
    let uptime = ["5000.10", "5003.17"];
    let stat = [
        "cpu  113445 7 24700 196237 3068 11 488 1450 30 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n",
        "cpu  113999 9 24911 196300 3100 21 499 1451 40 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n",
    ]
    .map(str::to_owned);
    let files = [
        ("uptime", uptime.map(|seconds| format!("{seconds} 1.00\n"))),
        ("stat", stat.clone()),
        ("diskstats", diskstats.clone()),
    ];
    let unused: Vec<String> = diskstats[1]
        .lines()
        .filter(|line| line.split_whitespace().skip(3).all(|counter| counter == "0"))
        .map(|line| line.split_whitespace().nth(2).unwrap().to_owned())
        .collect();
    let is_of = |line: &str, name: &str| line.split_whitespace().next() == Some(name);
    let started = Instant::now();
    let printed = real_iostat(desk.path(), files);
    let second = printed.rsplit("avg-cpu").next().unwrap();
    assert!(second.lines().count() > 100, "after {:?}: {printed}", started.elapsed());
    let (experiment, trial) = one_trial(of_snapshots(&uptime, &stat, &diskstats));
    let ours = iotax_report::iostat(&experiment, &trial);
    let ours = ours.rsplit("avg-cpu").next().unwrap();
    // Those who ask for all devices, as here, see the unused ones too.
    let used: Vec<String> = tables(second)
        .into_iter()
        .filter(|line| !unused.iter().any(|name| is_of(line, name)))
        .collect();
    assert_eq!(used.join("\n"), tables(ours).join("\n"));
}

/// The record of a run, with other counters in it.
fn one_trial(counters: Counters) -> (ExperimentHead, Trial) {
    let desk = Desk::new();
    let said = desk.run(&[
        "run", "randread-4k", "mem(size=16M)", "--time", "50ms", "--ramp", "0s", "--out", "r",
    ]);
    assert_eq!(said.code, 0, "{said}");
    let reader = Reader::<ExperimentHead>::open(&desk.path().join("r")).unwrap();
    let trial = reader.lines().unwrap().next().unwrap().unwrap();
    (reader.head.clone(), Trial { counters: Some(counters), ..trial })
}
