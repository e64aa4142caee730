//! Whole job files and command lines, as published.

use insta::assert_snapshot;
use iotax_experiment::Workload;
use proptest::prelude::*;

use super::{no_include, phases};
use crate::fio::options;

/// The reproduction of a search engine's disk, as published (Algolia, 2025).
const DRIVER_SEARCHER: &str = "
# writer (\"driver\")
fio --name=download --directory=$PWD --size=2G --numjobs=30 --time_based --runtime=70s \
--ramp_time=2s --ioengine=psync --verify=0 --bs=4M --rw=write --group_reporting=1 --eta=never &
sleep 2
# reader (\"searcher\")
fio --name=mmap_read --filename=fio_blob --directory=$PWD --size=50G --numjobs=8 --time_based \
--runtime=60s --ramp_time=2s --ioengine=mmap --verify=0 --bsrange=4K-1M --rw=randread \
--group_reporting=1 --eta=never &
sleep 5
iostat -mx -t 10 5
";

#[test]
fn the_published_driver_and_searcher_are_the_built_in_ones() {
    let read = crate::fio::from_command(DRIVER_SEARCHER, &no_include).unwrap();
    let [read] = read.as_slice() else { panic!("one phase") };
    let built_in = Workload::preset("driver-searcher-published").unwrap();
    assert_eq!(read.jobs, built_in.jobs);
    assert_eq!((read.ramp_ns, read.time_ns), (built_in.ramp_ns, built_in.time_ns));
    crate::fio::require_native([read]).unwrap();
    read.validate().unwrap();
    assert_snapshot!(read.notes.join("\n"), @"
    the script, line 3: directory=.: replaced by TARGET
    the script, line 3: runtime=70s: measured together with other jobs: for 1m, starting at 4s
    the script, line 3: --eta=never: ignored; iotax writes its own reports
    the script, line 8: iostat -mx -t 10 5: ignored; iotax writes its own reports
    the script, line 6: rw=randread: each offset is drawn independently, because the block sizes differ
    the script, line 6: directory=.: replaced by TARGET
    the script, line 6: --eta=never: ignored; iotax writes its own reports
    ");
}

/// The fio part of a published comparison of Kubernetes distributions (Constellation 2.6).
const CONSTELLATION: &str = "
[global]
direct=1
ioengine=libaio
runtime=60s
ramp_time=10s
size=10Gi
time_based=1
group_reporting
thread
cpus_allowed=0

[read_iops]
stonewall
rw=randread
bs=4k
iodepth=128

[write_iops]
stonewall
rw=randwrite
bs=4k
iodepth=128

[read_bw]
stonewall
rw=randread
bs=1024k
iodepth=128

[write_bw]
stonewall
rw=randwrite
bs=1024k
iodepth=128
";

#[test]
fn a_job_file_with_stonewalls_has_phases() {
    assert_snapshot!(phases(CONSTELLATION), @"
    read_iops: 10s ramp, 1m
      read_iops: cpus=[0] direct=true engine=io_uring invalidate=false pattern=shuffled queue_depth=128 size_bytes=10737418240 submit_batch=1 [ioengine=libaio: kept]
      note: test.fio, line 4: ioengine=libaio: iotax uses io_uring
    write_iops: 10s ramp, 1m
      write_iops: cpus=[0] direct=true engine=io_uring invalidate=false pattern=shuffled queue_depth=128 read_percent=0 size_bytes=10737418240 submit_batch=1 [ioengine=libaio: kept]
      note: test.fio, line 4: ioengine=libaio: iotax uses io_uring
    read_bw: 10s ramp, 1m
      read_bw: block_sizes={fixed:1048576} cpus=[0] direct=true engine=io_uring invalidate=false pattern=shuffled queue_depth=128 size_bytes=10737418240 submit_batch=1 [ioengine=libaio: kept]
      note: test.fio, line 4: ioengine=libaio: iotax uses io_uring
    write_bw: 10s ramp, 1m
      write_bw: block_sizes={fixed:1048576} cpus=[0] direct=true engine=io_uring invalidate=false pattern=shuffled queue_depth=128 read_percent=0 size_bytes=10737418240 submit_batch=1 [ioengine=libaio: kept]
      note: test.fio, line 4: ioengine=libaio: iotax uses io_uring
    ");
    for phase in super::read(CONSTELLATION).unwrap() {
        crate::fio::require_native([&phase]).unwrap();
        phase.validate().unwrap();
    }
}

fn option() -> impl Strategy<Value = String> {
    let names: Vec<&str> = options::all().map(|option| option.name).collect();
    let value = prop_oneof![
        Just(String::new()),
        "[0-9]{1,4}[kmgs%z]?",
        "[0-9]{1,3}[,:/-][0-9]{1,3}",
        Just("18446744073709551615".to_owned()),
        Just("rand".to_owned()),
        "(read|write|randrw|rw|randread)(:-?[0-9]{1,3})?",
        "(libaio|mmap|null|psync|io_uring|zipf:1.2|sequential|poisson|0|1)",
        ".{0,12}",
    ];
    (prop::sample::select(names), value).prop_map(|(name, value)| format!("{name}={value}"))
}

proptest! {
    #[test]
    fn no_job_file_panics(
        sections in prop::collection::vec(prop::collection::vec(option(), 0..8), 1..5)
    ) {
        let texts: Vec<String> = sections
            .iter()
            .map(|lines| format!("[job]\nsize=64m\n{}\n", lines.join("\n")))
            .collect();
        if let Ok(workloads) = super::read(&texts.concat()) {
            prop_assert!(!workloads.is_empty());
            for workload in workloads {
                prop_assert!(workload.primary_job().is_some());
                prop_assert!(workload.time_ns > 0);
                let _ = (crate::fio::require_native([&workload]), workload.validate());
            }
        }
    }

    #[test]
    fn no_command_panics(text in "(fio|--name=a|--size=1m|--rw=randrw| |&|;|sleep 1|--bs=4k|.)*") {
        let _ = crate::fio::from_command(&text, &no_include);
    }
}
