//! What fio itself makes of job files and command lines, against our reading of them.
//!
//! Needs the program fio; says so loudly and passes where it is missing.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use iotax_dialects::fio::Section;
use iotax_dialects::fio::options::{self, OptionInfo, ValueKind};
use iotax_dialects::fio::values::Amount;
use iotax_dialects::fio::written::{read_command, read_job_file};
use iotax_testing::skipped;

/// Why nothing is tested.
const NO_FIO: &str = "fio 3.33 or its examples (fio-examples) are not installed";

/// Name and settings of a job, global ones in front.
type Job = (String, Vec<(String, Option<String>)>);

fn include(name: &str) -> Result<String, String> {
    fs::read_to_string(name).map_err(|error| error.to_string())
}

/// Whether fio 3.33 is here.
fn is_installed() -> bool {
    let version = Command::new("fio").arg("--version").output();
    version.is_ok_and(|output| output.stdout.starts_with(b"fio-3.33"))
}

/// Runs fio.
fn fio(args: &[&str]) -> Output {
    Command::new("fio").args(args).output().unwrap()
}

fn ours(sections: &[Section]) -> Vec<Job> {
    let settings = |section: &Section| {
        section
            .settings
            .iter()
            .map(|s| (s.name().to_owned(), s.value.as_deref().map(str::to_owned)))
            .collect()
    };
    sections.iter().map(|section| (section.name.clone(), settings(section))).collect()
}

/// Reads what `fio --showcmd` prints; global settings are in front of the first job.
fn shown(output: &str) -> Vec<Job> {
    let line = output.lines().find(|line| line.starts_with("fio ")).unwrap();
    let mut global = Vec::new();
    let mut jobs: Vec<Job> = Vec::new();
    for option in format!(" {line}").split(" --").skip(1) {
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.trim_end())),
            None => (option.trim_end(), None),
        };
        if name == "name" {
            jobs.push((value.unwrap().to_owned(), global.clone()));
            continue;
        }
        let value = value.map(|value| match name {
            "description" => value.trim_matches('"').to_owned(),
            _ => value.to_owned(),
        });
        let setting = (name.to_owned(), value);
        match jobs.last_mut() {
            Some((_, settings)) => settings.push(setting),
            None => global.push(setting),
        }
    }
    jobs
}

/// Writes a job file.
fn written(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path
}

/// What both sides can be compared by: a job whose engine changes drops the options of the one
/// before, and a global name names nothing.
fn comparable(jobs: Vec<Job>) -> Vec<Job> {
    let kept = |(name, mut settings): Job| {
        settings.retain(|(option, _): &(String, _)| options::option_named(option).is_some());
        (name, settings)
    };
    jobs.into_iter().map(kept).collect()
}

/// Compares one file; whether there was something to compare.
fn compare(path: &Path) -> bool {
    let name = path.to_str().unwrap();
    let text = fs::read_to_string(path).unwrap();
    let output = fio(&["--showcmd", "--parse-only", name]);
    match read_job_file(name, &text, &include) {
        Ok(sections) if output.status.success() => {
            let stdout = String::from_utf8_lossy(&output.stdout);
            assert_eq!(comparable(ours(&sections)), comparable(shown(&stdout)), "{name}");
            true
        }
        // fio may lack the engine's library; reading does not need it.
        Ok(_) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains("not loadable"), "fio refuses {name}: {said}");
            false
        }
        Err(error) => {
            let variable = error.to_string().contains("is not set in the environment");
            assert!(variable || !output.status.success(), "fio takes what we refuse: {error}");
            false
        }
    }
}

#[test]
fn examples_of_fio_are_read_as_fio_reads_them() {
    let Ok(dir) = fs::read_dir("/usr/share/doc/fio/examples") else {
        return skipped(NO_FIO);
    };
    if !is_installed() {
        return skipped(NO_FIO);
    }
    let files = dir.map(|entry| entry.unwrap().path());
    // A name in [global] looks like a job in what fio shows.
    let plain = |path: &PathBuf| {
        path.extension().is_some_and(|e| e == "fio")
            && !fs::read_to_string(path).unwrap().contains("\nname=")
    };
    let compared = files.filter(plain).filter(|path| compare(path)).count();
    assert!(compared > 40, "only {compared} were compared");
}

#[test]
fn job_files_are_read_as_fio_reads_them() {
    if !is_installed() {
        return skipped(NO_FIO);
    }
    written("more.inc", "# more\niodepth=4\n; end\ndirect=1\n");
    let taken = [
        "[global]\nsize=1m\nbs = 4\n; c\n\n[a]\n  rw=randread # x ; y\n[a]\nrw=write ; z\n[b]\n",
        "[a]\nfilename=x\nsize=1m\nkb_base=1000\nlockfile=none\nbs=4k\nfilename_format=$jobname\n",
        "[global]\nsize=1m\n[a]\nbs=4k\ninclude more.inc\ntime_based\nruntime=5\n",
        "[global]\nioengine=libaio\nuserspace_reap\nsize=1m\n[a]\nthreads=4\n",
        "[a]\r\nsize=1m\r\nreadwrite=randrw:4\r\nblocksize=4k,8k\r\nnorandommap=0\r\n",
    ];
    for (nth, text) in taken.iter().enumerate() {
        assert!(compare(&written(&format!("taken{nth}.fio"), text)), "{text}");
    }
    let refused = [
        "[a]\nreadwrit=read\n",
        "bs=4k\n",
        "[a]\nsize=1m\nrw = read\n",
        "[a]\nsize=1m\nuserspace_reap\n",
        "[a]\nsize=1m\ndirect\n",
        "[a]\nsize=1m\npercentage_sequential=1\n",
        "[a]\nsize=1m\ndirect=2\n",
        "[a]\nsize=1m\nrwmixread=101\n",
    ];
    for (nth, text) in refused.iter().enumerate() {
        let path = written(&format!("refused{nth}.fio"), text);
        let output = fio(&["--parse-only", path.to_str().unwrap()]);
        assert!(!output.status.success(), "fio takes {text}");
        assert!(read_job_file("job.fio", text, &include).is_err(), "we take {text}");
    }
}

#[test]
fn numbers_are_those_that_fio_reads() {
    if !is_installed() {
        return skipped(NO_FIO);
    }
    let written = "--bs=10M --bs=10MB --bs=10mi --bs=10MiB --bs=512b --bs=0x200 --bs=7 --size=3g \
                   --runtime=10 --runtime=10ms --runtime=2m --runtime=3H --thinktime=5 \
                   --thinktime=5ms --rate=10m/s --kb_base=1000 --bs=10M --bs=10MiB --bs=1ki \
                   --rate_iops=2k --latency_target=2ms --io_size=1T";
    let mut args = vec!["--parse-only", "--debug=parse", "--name=fuzz"];
    args.extend(written.split(' ').filter(|word| !word.is_empty()));
    let output = fio(&args);
    let said = String::from_utf8_lossy(&output.stdout);
    let command = format!("fio --name=fuzz {written}");
    let section = read_command(&command, &include).unwrap().remove(0);
    let mut lines = said.lines().skip_while(|line| !line.contains("handle_option=name, ptr=fuzz"));
    for setting in section.settings.iter().filter(|setting| setting.name() != "kb_base") {
        let value = setting.value.as_deref().unwrap();
        let called = format!("__handle_option={}, ", setting.name());
        lines.by_ref().find(|line| line.contains(&called)).unwrap();
        let result = lines.next().unwrap().rsplit_once("out=").unwrap().1;
        let read = match setting.option.kind {
            ValueKind::Time { .. } => setting.duration_ns().unwrap() / 1000,
            ValueKind::Size => match setting.amount().unwrap() {
                Amount::Bytes(bytes) => bytes,
                other => panic!("{other:?}"),
            },
            _ => u64::try_from(setting.number().unwrap()).unwrap(),
        };
        assert_eq!(read.to_string(), result, "{}={value}", setting.name());
    }
}

#[test]
fn command_lines_are_taken_and_refused_as_by_fio() {
    if !is_installed() {
        return skipped(NO_FIO);
    }
    let lines = [
        "--name=a --size=1m --bs 4k --time_based --runt=1",
        "--size=1m -name=a -rw=read --name b --iodepth=4",
        "--size=1m --name=a --ioengine=libaio --userspace_reap",
        "--size=1m --name=a --userspace_reap --ioengine=libaio",
        "--size=1m --name=a --iod=4",
        "--size=1m --name=a --bogus=4",
        "--size=1m --name=a --bs=",
        "--size=1m --name=a --bs",
        "--size=1m --name=a --rw=reed",
        "--size=1m --name=a --minimal --eta=never",
    ];
    for line in lines {
        let args: Vec<_> = ["--parse-only"].into_iter().chain(line.split(' ')).collect();
        let taken = fio(&args).status.success();
        let ours = read_command(&format!("fio {line}"), &include);
        assert_eq!(ours.is_ok(), taken, "{line}: {ours:?}");
    }
}

/// First words of the lines that have a colon behind them.
fn listed(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = text.lines().filter_map(|line| line.split_once(':'));
    names.map(|(name, _)| name.trim().to_owned()).filter(|name| !name.contains(' ')).collect()
}

#[test]
fn the_table_of_options_is_fios() {
    if !is_installed() {
        return skipped(NO_FIO);
    }
    let names = listed(&fio(&["--cmdhelp=all"]));
    let unknown: Vec<_> =
        names.iter().filter(|name| options::option_named(name).is_none()).collect();
    assert!(names.len() > 200 && unknown.is_empty(), "{} names, no {unknown:?}", names.len());
    let is_old =
        |option: &OptionInfo| matches!(option.kind, ValueKind::Ignored | ValueKind::Removed);
    let extra: Vec<_> = options::all()
        .filter(|option| option.came().is_none())
        .filter(|option| !is_old(option) && !names.iter().any(|name| name == option.name))
        .map(|option| option.name)
        .collect();
    // `all` leaves out some that depend on others; the last is for machines with CUDA.
    assert_eq!(
        extra,
        ["bs_is_seq_rand", "softrandommap", "iomem_align", "verify_async_cpus", "gpu_dev_id"]
    );
    for option in &extra[..4] {
        let help = fio(&[&format!("--cmdhelp={option}")]);
        assert!(!help.stdout.starts_with(b"No such"), "{option}");
        assert!(!help.stderr.starts_with(b"No such"), "{option}");
    }
    for engine in ["libaio", "io_uring", "pvsync2", "mmap", "sg", "net", "cpuio", "filestat"] {
        let mut names = listed(&fio(&[&format!("--enghelp={engine}")]));
        names.sort_unstable();
        let mut ours: Vec<_> =
            options::of_engine(engine).filter(|o| o.came().is_none()).map(|o| o.name).collect();
        ours.sort_unstable();
        assert_eq!(ours, names, "{engine}");
    }
}
