//! Anything saved compares with anything saved: directories, JSON of runs, files of other tools.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::{Value, json};
use support::{Desk, Said};

const DISKSPD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dialects/tests/fixtures/diskspd");
const UPDATE: &str = "UPDATE_EXAMPLES";

/// A result of fio: name, order, block size and I/Os per second of each job.
fn fio(desk: &Desk, name: &str, jobs: &[(&str, &str, u64, u64)]) {
    let jobs: Vec<Value> = jobs
        .iter()
        .enumerate()
        .map(|(group, (name, order, block, iops))| {
            let done = json!({
                "io_kbytes": iops * 60 * block / 1024, "io_bytes": iops * 60 * block,
                "bw_bytes": iops * block, "iops": iops, "runtime": 60_000, "total_ios": iops * 60
            });
            let none = json!({ "io_kbytes": 0, "io_bytes": 0, "iops": 0, "total_ios": 0 });
            let is_read = order.ends_with("read");
            let (read, write) = if is_read { (&done, &none) } else { (&none, &done) };
            json!({
                "jobname": name, "groupid": group, "error": 0, "job_runtime": 60_000,
                "job options": { "rw": order, "bs": block.to_string(), "iodepth": "32" },
                "read": read, "write": write
            })
        })
        .collect();
    let text = json!({ "fio version": "fio-3.35", "jobs": jobs }).to_string();
    fs::write(desk.path().join(name), text).unwrap();
}

/// Runs a workload in memory for a moment, and keeps the results in `out`.
fn run(desk: &Desk, out: &str, more: &[&str]) -> Said {
    let args = ["run", "randread-4k", "mem(size=16M)", "--time", "100ms", "--ramp", "0ms"];
    let said = desk.run(&[&args[..], &["--out", out], more].concat());
    assert_eq!(said.code, 0, "{said}");
    said
}

fn compared(said: &Said) -> Value {
    assert!(said.code < 2, "{said}");
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error} in {said}"))
}

/// The beginning of a report: what is said of all jobs together.
fn head(said: &Said) -> String {
    assert!(said.code < 2, "{said}");
    said.out.split("\nJob 1 of").next().unwrap().to_owned()
}

#[test]
fn directories_runs_and_files_of_other_tools_are_compared_with_each_other() {
    let desk = Desk::new();
    run(&desk, "monday", &["-n", "2"]);
    let json = run(&desk, "tuesday", &["--format", "json"]).out;
    fs::write(desk.path().join("tuesday.json"), json).unwrap();
    fio(&desk, "fio.json", &[("reads", "randread", 4096, 1000)]);
    fs::copy(Path::new(DISKSPD).join("before.xml"), desk.path().join("diskspd.xml")).unwrap();
    let arms = ["old=monday", "old=tuesday.json", "new=fio.json,diskspd.xml"];
    let said = desk.run(&[&["compare", "--format", "json", "--out", "out"], &arms[..]].concat());
    let result = compared(&said);
    assert_eq!(result["comparisons"].as_array().unwrap().len(), 1, "{result:#}");
    let first = &result["comparisons"][0];
    assert_eq!((&first["arm"], &first["blocks"]), (&"new".into(), &2.into()), "{result:#}");
    // Three trials of the old ones are two results.
    assert_eq!(result["trials"].as_array().unwrap().len(), 5);
    let again = desk.run(&["report", "out", "--format", "json"]);
    assert_eq!(compared(&again)["comparisons"], result["comparisons"]);

    // What was compared can be compared again, the trials of one arm with those of another too.
    let said = desk.run(&["compare", "out#old", "out#new", "--out", "again", "--format", "json"]);
    let again = compared(&said);
    assert_eq!(again["comparisons"][0]["tax"], first["tax"], "{again:#}");
    let directories = desk.run(&["compare", "monday", "tuesday", "--out", "both"]);
    assert!(directories.out.contains("2 results from iotax"), "{directories}");
    let twice = desk.run(&["compare", "a=tuesday,tuesday.json", "b=monday", "--out", "no"]);
    assert_snapshot!(twice, @"
    error: arm a has the same run twice: tuesday and tuesday.json; give each run only once; a run counts as one measurement
    [exit 2]
    ");
}

#[test]
fn trials_within_one_result_each_tell_only_of_these_two() {
    let desk = Desk::new();
    run(&desk, "one", &["-n", "3"]);
    run(&desk, "two", &["-n", "3"]);
    let said = desk.run(&["compare", "one", "two", "--out", "out"]);
    let text = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("with only one result per arm, another run may give"), "{said}");
    let result = compared(&desk.run(&["report", "out", "--format", "json"]));
    let first = &result["comparisons"][0];
    assert!(first["lo"].is_null() && first["within"]["lo"].is_number(), "{first:#}");
    assert_eq!((&first["verdict"], &first["blocks"]), (&"undecided".into(), &1.into()));
}

#[test]
fn every_job_has_its_verdict_and_the_gate_looks_at_all_of_them() {
    let desk = Desk::new();
    for (name, writes) in [("old", 1000), ("new", 700)] {
        for day in 1..4 {
            let jobs = [
                ("read", "randread", 4096, 2000 + day),
                ("write", "randwrite", 4096, writes + day),
                if name == "old" { ("log", "write", 512, 10) } else { ("verify", "read", 512, 9) },
            ];
            fio(&desk, &format!("{name}{day}.json"), &jobs);
        }
    }
    let args = ["compare", "old=old1.json,old2.json,old3.json", "--out", "out"];
    let args = [&args[..], &["new=new1.json", "new=new2.json", "new=new3.json"]].concat();
    let said = desk.run(&[&args[..], &["--fail-if", "slower by 5%"]].concat());
    assert_eq!(said.code, 1, "{said}");
    assert_eq!(
        desk.facts(),
        [
            "new throughput equivalent -0.000 [-0.002, 0.002] 3",
            "new throughput slower 0.299 [0.296, 0.302] 3",
        ]
    );
    assert_snapshot!(head(&said), @"
    read, write: 2 jobs of 6 results from fio 3.35

      write: Rule broken: `slower by 5%`: new is 29.9 % slower [29.7, 30.1] in
      throughput after 3 blocks.
      read: Rule undecided: `slower by 5%`: new is 0.0 % slower [−0.1, 0.1] in
      throughput after 3 blocks; 2 jobs could not be compared, because only one side
      has results for them. The smallest detectable violation is unknown.
      new compared with old: equivalent in read; slower in write.
      Left out (found only in old): log.
      Left out (found only in new): verify.

    By job
      job                                      new / old
      read   2,002 / 2,002 IOPS (0 % slower), equivalent
      write               702 / 1,002 IOPS (30 % slower)
      Each cell shows the arm's figure, the baseline's figure and, in parentheses,
      the difference, followed by a verdict if there is one. For I/Os of 64 KiB or
      more, the figure is bandwidth.

    Jobs
      job    arm        rate  MiB/s
      read   old  2,002 IOPS   7.82
      read   new  2,002 IOPS   7.82
      write  old  1,002 IOPS   3.91
      write  new    702 IOPS   2.74
      Means over the trials used; percentiles are pooled over the same trials and
      are only descriptive.

    Warning, not interleaved: the results do not show that the runs were interleaved
      in random order: the difference includes whatever changed between them
      (neighbors, credits, temperature, data on the volume); no interval covers
      these changes
      To measure only the difference between the arms, run them in a single `iotax
      compare`, which repeatedly runs them in random order and then in reverse
      order.

    Open questions, all jobs
      - Tails were not compared: a slower arm got less load. For a verdict on p99,
        run all arms at the same rate, 0.7 times the throughput of the slowest arm.
      - Some results of old and new have no latency percentiles, or no percentiles
        for reads and writes together. fio writes them with --output-format=json+,
        and DiskSpd with -L.
      - These results do not show whether a cache served the I/Os, whether the
        storage was the same, or whether a burst ended during the run. They also do
        not show how much CPU the load generator used, or whether CPU time went to
        other work or was stolen. iotax could not check any of this.
    ");
    let page = fs::read_to_string(desk.path().join("out/report.html")).unwrap();
    assert!(
        page.contains("href=\"#part-2\"") && page.contains("(found only in old): log"),
        "{page}"
    );
    let markdown = desk.run(&["report", "out", "--format", "markdown"]).out;
    assert!(markdown.contains("| write "), "{markdown}");
}

#[test]
fn jobs_of_other_names_are_matched_by_what_they_do() {
    let desk = Desk::new();
    fio(&desk, "a.json", &[("r", "randread", 4096, 100), ("w", "write", 65_536, 50)]);
    fio(&desk, "b.json", &[("seq", "write", 65_536, 40), ("rnd", "randread", 4096, 100)]);
    let said = desk.run(&["compare", "a.json", "b.json", "--out", "out"]);
    assert_eq!(
        desk.facts(),
        ["b throughput undecided -0.000 [-, -] 1", "b throughput undecided 0.200 [-, -] 1",]
    );
    assert_snapshot!(head(&said), @"
    r, w: 2 jobs of 2 results from fio 3.35

      With only one result per arm, chance cannot be ruled out.
      Job rnd of b.json is compared with r of a.json, because no other job has the
      same load.
      Job seq of b.json is compared with w of a.json, because no other job has the
      same load.

    By job
      job                            b / a
      r        100 / 100 IOPS (0 % slower)
      w    2.50 / 3.12 MiB/s (20 % slower)
      Each cell shows the arm's figure, the baseline's figure and, in parentheses,
      the difference, followed by a verdict if there is one. For I/Os of 64 KiB or
      more, the figure is bandwidth.

    Jobs
      job  arm       rate  MiB/s
      r    a     100 IOPS   0.39
      r    b     100 IOPS   0.39
      w    a    50.0 IOPS   3.12
      w    b    40.0 IOPS   2.50
      Means over the trials used; percentiles are pooled over the same trials and
      are only descriptive.

    Warning, not interleaved: the results do not show that the runs were interleaved
      in random order: the difference includes whatever changed between them
      (neighbors, credits, temperature, data on the volume); no interval covers
      these changes
      To measure only the difference between the arms, run them in a single `iotax
      compare`, which repeatedly runs them in random order and then in reverse
      order.

    Open questions, all jobs
      - Throughput of b: 1 result of a and 1 of b are too few for an interval, which
        requires at least 2 per arm; 5 per arm give a narrow interval.
      - Tails were not compared: a slower arm got less load. For a verdict on p99,
        run all arms at the same rate, 0.7 times the throughput of the slowest arm.
      - Some results of a and b have no latency percentiles, or no percentiles for
        reads and writes together. fio writes them with --output-format=json+, and
        DiskSpd with -L.
      - These results do not show whether a cache served the I/Os, whether the
        storage was the same, or whether a burst ended during the run. They also do
        not show how much CPU the load generator used, or whether CPU time went to
        other work or was stolen. iotax could not check any of this.
    ");
}

#[test]
fn each_group_has_a_baseline_of_its_own() {
    let desk = Desk::new();
    for (name, iops) in [("aks", 586), ("c-azure", 588), ("gke", 5949), ("c-gcp", 5344)] {
        fio(&desk, &format!("{name}.json"), &[("read", "randread", 4096, iops)]);
    }
    let files = ["aks.json", "c-azure.json", "gke.json", "c-gcp.json", "--out", "out"];
    let paired = |pairs: &[&str]| desk.run(&[&["compare"], &files[..], pairs].concat());
    let said = paired(&["--pair", "aks,c-azure", "--pair", "gke,c-gcp"]);
    assert_eq!(said.code, 0, "{said}");
    assert_eq!(
        desk.facts(),
        [
            "c-azure throughput undecided -0.003 [-, -] 1",
            "c-gcp throughput undecided 0.102 [-, -] 1",
        ]
    );
    assert_snapshot!(said.out.split("Arms").next().unwrap(), @"
    read: 4 results from fio 3.35

      c-gcp is 10 % slower than gke in throughput, but with only one result per arm,
      chance cannot be ruled out.
      c-azure is 0.3 % faster than aks in throughput, but with only one result per
      arm, chance cannot be ruled out.
      No measurements were made; the figures are from the files.

    Tax
      arm            metric            effect  n  verdict
      c-azure / aks  throughput  0.3 % faster  1  undecided
      c-gcp / gke    throughput   10 % slower  1  undecided
      No intervals; n: number of results of the arm with fewer results.
    ");
    let result = compared(&desk.run(&["report", "out", "--format", "json"]));
    let mut all = result["comparisons"].as_array().unwrap().iter();
    assert!(all.any(|found| found["against"] == "gke"), "{result:#}");
    fs::remove_dir_all(desk.path().join("out")).unwrap();
    assert_snapshot!(paired(&["--pair", "aks,azure"]), @"
    error: option --pair: unknown arm `azure`; did you mean `c-azure`?
    known arms: aks, c-azure, gke, c-gcp
    [exit 2]
    ");
    let live =
        ["compare", "-w", "randread-4k", "a=mem(size=1M)", "b=mem(size=1M)", "--pair", "a,b"];
    assert_snapshot!(desk.run(&live), @"
    error: --pair is only for saved results; to compare targets, run iotax compare once for each pair, so that the trials of a pair are interleaved
    [exit 2]
    ");
}

#[test]
fn recorded_cells_make_a_matrix() {
    let desk = Desk::new();
    for (sec, share) in [("sys", 100), ("krb5", 70), ("krb5p", 30)] {
        for (connections, factor) in [("1", 10), ("4", 16)] {
            for day in 0..3 {
                let iops = share * factor + day * 2;
                let name = format!("{sec}-{connections}-{day}.json");
                if name != "krb5p-4-0.json" {
                    fio(&desk, &name, &[("read", "randread", 4096, iops)]);
                }
            }
        }
    }
    for day in 1..3 {
        fs::remove_file(desk.path().join(format!("krb5p-4-{day}.json"))).unwrap();
    }
    let factors = ["--matrix", "sec=sys,krb5,krb5p", "--matrix", "nconnect=1,4"];
    let files = "{sec}-{nconnect}-0.json,{sec}-{nconnect}-1.json,{sec}-{nconnect}-2.json";
    let said = desk.run(&[&["compare", "--out", "out", files], &factors[..]].concat());
    assert_eq!(said.code, 0, "{said}");
    assert_eq!(
        desk.facts(),
        [
            "sys/4 throughput faster -0.599 [-0.608, -0.589] 3",
            "krb5/1 throughput slower 0.299 [0.293, 0.305] 3",
            "krb5/4 throughput faster -0.120 [-0.127, -0.112] 3",
            "krb5p/1 throughput slower 0.699 [0.693, 0.704] 3",
        ]
    );
    assert_snapshot!(said.out.split("Tax").next().unwrap(), @"
    read: 15 results from fio 3.35

      sec=krb5p is 3.32x slower [3.22, 3.42] than sec=sys in throughput.
      nconnect=4 is 60 % faster [58, 61] than nconnect=1 in throughput.
      sec=krb5 is 30.0 % slower [29.3, 30.6] than sec=sys in throughput.
      No measurements were made; the figures are from the files.

    Warning, results of different workloads: no result for sec=krb5p, nconnect=4:
      krb5p-4-0.json,krb5p-4-1.json,krb5p-4-2.json does not exist
      Every difference below includes the difference between the jobs, and figures
      that are missing on one side are not compared. Compare results of the same
      job, or treat this as a comparison of the jobs as well.

    By factor
      sec                nconnect=1                nconnect=4
      sys                1,002 IOPS  1,602 IOPS (60 % faster)
      krb5   702 IOPS (30 % slower)  1,122 IOPS (12 % faster)
      krb5p  302 IOPS (3.3x slower)
      Each cell shows the throughput and, in parentheses, the difference from the
      first arm.

    Effects
      setting     metric                effect [95 % CI]  n  verdict
      sec=krb5    throughput  30.0 % slower [29.3, 30.6]  3  slower
      sec=krb5p   throughput   3.32x slower [3.22, 3.42]  3  slower
      nconnect=4  throughput        60 % faster [58, 61]  3  faster
      Each level is compared with the first level of its factor. Each effect is
      the mean over all pairs of arms that differ only in this factor (sec=krb5: 2
      pairs; sec=krb5p: 1 pair; nconnect=4: 2 pairs). All intervals for a metric are
      jointly valid, with 95 % confidence.

    Changes
      level        IOPS  throughput
      sec=krb5    −30 %       −30 %
      sec=krb5p   −70 %       −70 %
      nconnect=4  +60 %       +60 %
      Each level is compared with the first level of its factor. Each change is
      the mean over the arms that differ only in this factor. Descriptive only,
      no intervals.
    ");
    let excluded = ["compare", "--out", "out2", files, "--exclude", "sec=krb5p,nconnect=4"];
    let said = desk.run(&[&excluded[..], &factors].concat());
    assert!(said.code == 0 && !said.out.contains("no result for"), "{said}");
}

#[test]
fn a_copy_of_a_result_is_no_second_measurement() {
    let desk = Desk::new();
    let saved = |name: &str, iops| fio(&desk, name, &[("rr", "randread", 4096, iops)]);
    saved("old.json", 1000);
    saved("old-copy.json", 1000);
    saved("new.json", 900);
    saved("new2.json", 901);
    let said = desk.run(&["compare", "old=old.json,old-copy.json", "new=new.json,new2.json"]);
    assert_snapshot!(said, @"
    error: arm old has the same run twice: old.json and old-copy.json; give each run only once; a run counts as one measurement
    [exit 2]
    ");
}

#[test]
fn results_are_never_driven_at() {
    let desk = Desk::new();
    run(&desk, "saved", &[]);
    let before = desk.names();
    let files = || fs::read_dir(desk.path().join("saved")).unwrap().count();
    let held = files();
    fs::create_dir(desk.path().join("saved/sub")).unwrap();
    let said = |args: &[&str]| desk.run(args).to_string();
    assert_snapshot!(said(&["run", "randread-4k", "saved"]), @"
    error: DESK/saved contains the results of an earlier iotax run, so iotax does not run a load there; iotax report DESK/saved shows these results, and iotax compare DESK/saved OTHER compares them with other results
    [exit 2]
    ");
    assert_snapshot!(said(&["run", "randread-4k", "saved/sub/file"]), @"
    error: DESK/saved/sub/file is in DESK/saved, which contains the results of an earlier iotax run, so iotax does not run a load there; iotax report DESK/saved shows these results, and iotax compare DESK/saved OTHER compares them with other results
    [exit 2]
    ");
    assert_snapshot!(said(&["compare", "-w", "randread-4k", "saved", "saved/"]), @"
    error: --workload has no effect on saved results, because nothing is run; leave it out
    [exit 2]
    ");
    assert_snapshot!(said(&["compare", "-w", "randread-4k", "saved/sub", "mem(size=1M)"]), @"
    error: DESK/saved/sub is in DESK/saved, which contains the results of an earlier iotax run, so iotax does not run a load there; iotax report DESK/saved shows these results, and iotax compare DESK/saved OTHER compares them with other results
    [exit 2]
    ");
    assert_snapshot!(said(&["compare", "saved/experiment.json", "saved"]), @"
    error: saved/experiment.json is in DESK/saved, which contains the results of an earlier iotax run, so iotax does not run a load there; iotax report DESK/saved shows these results, and iotax compare DESK/saved OTHER compares them with other results
    [exit 2]
    ");
    for args in [
        &["run", "randread-4k", "saved/trials.jsonl"][..],
        &["run", "randread-4k", "file(path=saved/x, size=1M)"],
        &["run", "randread-4k", "dir(path=saved)"],
        &["run", "randread-4k", "file(size=1M) + aes", "--dir", "saved"],
        &["peel", "file(path=saved/x, size=1M) + aes"],
        &["peel", "file(size=1M) + aes", "--dir", "saved/sub"],
        &["limits", "saved"],
        &["limits", "saved/sub"],
        &["plan", "run", "randread-4k", "saved"],
        &["disk", "up", "--dir", "saved", "at=file(size=1M)"],
        &["disk", "up", "saved/sub=mem(size=1M)"],
    ] {
        let said = desk.run(args);
        assert!(
            said.code == 2 && said.err.contains("does not run a load there"),
            "{args:?} {said}"
        );
    }
    fs::remove_dir(desk.path().join("saved/sub")).unwrap();
    assert_eq!((desk.names(), files()), (before, held));
}

/// Runs the command of an example in `docs/examples`, on its files, and compares what it prints
/// with what is kept there.
fn example(name: &str, args: &[&str], cells: &[&str]) {
    let desk = Desk::new();
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples").join(name);
    for entry in fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            fs::copy(&path, desk.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    let said = desk.run(&[args, &["--out", "out"]].concat());
    assert_eq!(said.code, 0, "{said}");
    for (format, file) in [("text", "summary.txt"), ("markdown", "summary.md")] {
        let said = desk.run(&["report", "out", "--format", format]);
        let shown = said.out.split("\nReport: ").next().unwrap().to_owned();
        let kept = dir.join(file);
        if std::env::var_os(UPDATE).is_some() {
            fs::write(&kept, &shown).unwrap();
        }
        assert!(
            fs::read_to_string(&kept).unwrap_or_default() == shown,
            "{} is out of date: {UPDATE}=1 cargo test -p iotax --test saved_results",
            kept.display()
        );
    }
    let page = fs::read_to_string(desk.path().join("out/report.html")).unwrap();
    let missing: Vec<&&str> = cells.iter().filter(|cell| !page.contains(**cell)).collect();
    assert!(missing.is_empty(), "{missing:?} are not in the page");
}

#[test]
fn eight_cells_of_encrypted_volumes_come_from_four_results() {
    let args = ["compare", "--pair", "aks,c-azure", "--pair", "gke,c-gcp"];
    let files = ["aks.json", "c-azure.json", "gke.json", "c-gcp.json"];
    let cells = [
        "588 / 586 IOPS (0.3 % faster)",
        "5,344 / 5,949 IOPS (10 % slower)",
        "579 / 566 IOPS (2.3 % faster)",
        "5,251 / 5,931 IOPS (11 % slower)",
        "120 / 145 MiB/s (17 % slower)",
        "240 / 241 MiB/s (0.4 % slower)",
        "121 / 143 MiB/s (15 % slower)",
        "238 / 241 MiB/s (1.2 % slower)",
    ];
    example("encrypted-volumes", &[&args[..], &files].concat(), &cells);
}

#[test]
fn a_documented_limit_that_both_sides_sit_on_is_named() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/encrypted-volumes");
    let [aks, azure] = ["aks", "c-azure"].map(|name| format!("{name}={dir}/{name}.json"));
    let said = Desk::new().run(&["compare", "--disk", "E20", &aks, &azure, "--out", "out"]);
    for arm in ["aks", "c-azure"] {
        let limit = format!("{arm}: IOPS: at the burst rate of the disk limit of E20");
        assert!(said.out.contains(&limit), "{said}");
    }
}

#[test]
fn jobs_of_a_suite_have_the_same_names_in_its_record_and_in_its_json() {
    let desk = Desk::new();
    // Ends by bytes: on a busy machine so short a time may end before anything is complete.
    let ends = ["--ramp", "0ms", "--set", "io-size=16M"];
    let suite = [&["run", "provider-baseline", "mem(size=16M)"], &ends[..]].concat();
    let of = |out: &str| desk.run(&[&suite[..], &["--out", out, "--format", "json"]].concat());
    fs::write(desk.path().join("one.json"), of("one").out).unwrap();
    of("two");
    let said = desk.run(&["compare", "one.json", "two", "--out", "out", "--format", "json"]);
    let result = compared(&said);
    let phases = result["phases"].as_array().unwrap();
    assert_eq!(phases.len(), 10, "{result:#}");
    assert!(phases.iter().all(|phase| phase["comparisons"][0].is_object()), "{result:#}");
    assert!(!said.out.contains("left out"), "{said}");
}

#[test]
fn the_matrix_of_nfs_with_kerberos_comes_from_recorded_results() {
    let args = ["compare", "--matrix", "sec=sys,krb5,krb5i,krb5p", "{sec}.json"];
    let cells = ["−53 %", "−55 %", "−77 %", "+200 µs", "+600 µs", "+1.60 ms", "−85 %"];
    example("nfs-kerberos", &args, &cells);
}
