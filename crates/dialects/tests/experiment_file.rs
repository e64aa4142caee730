//! Experiment files that give their workload in fio's words.

use insta::assert_snapshot;
use iotax_dialects::fio;
use iotax_experiment::file::WorkloadElsewhere;
use iotax_experiment::{Draft, Error};

fn with_jobs(text: &str, jobs: &'static str) -> Result<Draft, Error> {
    let include = |name: &str| match name {
        "job.fio" => Ok(jobs.to_owned()),
        _ => Err("there is no such file".to_owned()),
    };
    Draft::from_toml("x.toml", text, &|elsewhere| match elsewhere {
        WorkloadElsewhere::Fio(entry) => fio::from_entry(entry, &include),
        WorkloadElsewhere::Recording(_) => Err(Error::syntax("recordings are not read here", "")),
    })
}

const JOBS: &str = "[global]\nsize=1m\nruntime=5\n[a]\n[b]\nstonewall\nrw=write\n";

#[test]
fn a_job_file_of_fio_is_a_workload() {
    let file = "workload.fio = \"job.fio\"\nset.b.threads = 2\n[arms]\na = \"/mnt/a\"\n";
    let spec = with_jobs(file, JOBS).unwrap();
    assert_eq!(spec.name(), "job");
    let jobs: Vec<_> = spec.phases().map(|w| (w.jobs[0].name.clone(), w.jobs[0].threads)).collect();
    assert_eq!(jobs, [("a".to_owned(), 1), ("b".to_owned(), 2)]);
    let command = "workload = { fio = \"fio --name=x --size=1m --runtime=5\" }\narms.a = \"/a\"\n";
    assert_eq!(with_jobs(command, "").unwrap().name(), "x");
    for front in ["sudo ", "# ", "numactl -N 0 /usr/bin/", "/opt/fio/", "root@h:~# sudo "] {
        let pasted = command.replace("fio --", &format!("{front}fio --"));
        assert_eq!(with_jobs(&pasted, "").unwrap().name(), "x", "{pasted}");
    }
    let path = "workload.fio = \"my fio jobs/job.fio\"\narms.a = \"/mnt/a\"\n";
    assert!(with_jobs(path, "").unwrap_err().to_string().contains("cannot read `my fio jobs"));
}

/// What is read from fio may be changed as any workload.
#[test]
fn a_job_may_get_another_engine() {
    let command = "fio --name=a --ioengine=io_uring --size=8m --runtime=1";
    let mut read = fio::from_command(command, &|_: &str| Err(String::new())).unwrap();
    read[0].set("engine=psync").unwrap();
    assert_eq!(read[0].validate(), Ok(()));
}

#[test]
fn what_is_wrong_with_a_job_file_is_placed_in_it() {
    let error = |text: &str, jobs| match with_jobs(text, jobs) {
        Err(error) => error.to_string(),
        Ok(spec) => fio::check_drivers(&spec).expect_err("refused").to_string(),
    };
    let file = "workload.fio = \"job.fio\"\narms.a = \"/mnt/a\"\n";
    assert_snapshot!(error(file, "[a]\nsize=1m\nbz=4k\n"), @"
    job.fio:3:1: fio up to 3.42 has no option `bz`; did you mean `bs`?
      3 | bz=4k
        | ^^
    `fio --cmdhelp=all` lists the options of the fio on this machine
    ");
    assert_snapshot!(error(file, "[a]\nsize=1m\nnice=2\n"), @r#"
    iotax's own engines do not support nice=2
      job.fio, line 3: nice=2
        changes its CPU priority
    run the workload with fio: --engine fio
    "#);
    assert_snapshot!(error("workload.fio = \"x.fio\"\narms.a = \"/mnt/a\"\n", ""), @r#"
    x.toml:1:16: workload.fio: cannot read `x.fio`: there is no such file
      1 | workload.fio = "x.fio"
        |                ^^^^^^^
    "#);
}
