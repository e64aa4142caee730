use insta::assert_snapshot;

use super::{error, job};

#[test]
fn what_only_fio_can_do_is_named() {
    assert_snapshot!(error("[a]\nsize=1g\nzonemode=zbd\nzonesize=1m\n"), @"
    iotax's own engines do not support these 2 options
      test.fio, line 3: zonemode=zbd
        writes at the write pointers of a zoned disk
      test.fio, line 4: zonesize=1m
        writes at the write pointers of a zoned disk
    run the workload with fio: --engine fio
    ");
    assert_snapshot!(error("[a]\nsize=1g\nnice=2\n"), @"
    iotax's own engines do not support nice=2
      test.fio, line 3: nice=2
        changes its CPU priority
    run the workload with fio: --engine fio
    ");
}

#[test]
fn what_fio_may_not_do_is_named() {
    assert_snapshot!(error("[a]\nsize=1g\nexec_prerun=rm -rf /\n"), @"
    iotax's own engines do not support exec_prerun=rm -rf /
      test.fio, line 3: exec_prerun=rm -rf /
        runs a program; iotax does not let fio use this option either
    leave out this option
    ");
    assert_snapshot!(error("[global]\nexec_prerun=true\n[a]\nnice=1\nsize=1m\n[b]\nsize=1m"), @"
    iotax's own engines do not support these 2 options
      test.fio, line 2: exec_prerun=true
        runs a program; iotax does not let fio use this option either
      test.fio, line 4: nice=1
        changes its CPU priority
    leave out the options that iotax does not allow, then run the workload with --engine fio
    ");
}

#[test]
fn long_values_and_long_lists_are_cut() {
    let long = "x".repeat(300);
    assert_snapshot!(error(&format!("[a]\nsize=1g\nopendir={long}")), @"
    iotax's own engines do not support opendir=xxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
      test.fio, line 3: opendir=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
        uses existing files; iotax does not let fio use this option either
    leave out this option
    ");
    let many: Vec<_> = (0..20).map(|n| format!("[j{n}]\nsize=1m\nnice=1\n")).collect();
    assert_snapshot!(error(&many.concat()), @"
    iotax's own engines do not support these options
      test.fio, line 3: nice=1
        changes its CPU priority
      test.fio, line 6: nice=1
        changes its CPU priority
      test.fio, line 9: nice=1
        changes its CPU priority
      test.fio, line 12: nice=1
        changes its CPU priority
      test.fio, line 15: nice=1
        changes its CPU priority
      test.fio, line 18: nice=1
        changes its CPU priority
      test.fio, line 21: nice=1
        changes its CPU priority
      test.fio, line 24: nice=1
        changes its CPU priority
      test.fio, line 27: nice=1
        changes its CPU priority
      test.fio, line 30: nice=1
        changes its CPU priority
      test.fio, line 33: nice=1
        changes its CPU priority
      test.fio, line 36: nice=1
        changes its CPU priority
      and more options
    run the workload with fio: --engine fio
    ");
}

#[test]
fn secrets_are_not_shown() {
    let text = "[a]\nioengine=http\nhttp_s3_key=abc\nhttp_pass=def\nsize=1m";
    let error = error(text);
    assert!(!error.contains("abc") && !error.contains("def"), "{error}");
}

#[test]
fn what_makes_no_sense_is_named() {
    assert_snapshot!(error("[a]\nsize=1k\nbs=4k"), @"
    test.fio:2:6: size: is smaller than the block size, so fio also refuses it
      2 | size=1k
        |      ^^
    specify a larger size
    ");
    assert_snapshot!(error("[a]\nsize=1g\n[b]\nsize=1g\nwait_for=c"), @"
    test.fio:5:10: wait_for: no earlier job has this name
      5 | wait_for=c
        |          ^
    ");
    assert_snapshot!(error("[a]\nsize=1g\niodepth=99999999999"), @"
    test.fio:3:9: iodepth: `99999999999` is too large
      3 | iodepth=99999999999
        |         ^^^^^^^^^^^
    the largest is 4294967295
    ");
}

#[test]
fn options_of_newer_fios_have_their_release() {
    assert_snapshot!(job("fdp=1\nfadvise_hint=noreuse\nverify_policy=fsynced\nss=lat:10%"), @"
    [fadvise_hint=noreuse: a cache hint that does not match the job's access pattern; introduced with fio 3.35] [fdp=1: uses NVMe data placement for its writes; introduced with fio 3.34] [verify_policy=fsynced: verifies in a way that only fio supports; introduced after fio 3.42]
    note: steadystate=lat:10%: iotax itself decides how long to measure
    ");
    assert_snapshot!(job("fdp=0\ncomm=x\nlog_window_value=max\nend_syncfs=0"), @"as usual");
    assert_snapshot!(error("[a]\nsize=1g\nruntime=10\nramp_size=64m\n"), @"
    iotax's own engines do not support ramp_size=64m
      test.fio, line 4: ramp_size=64m
        ends its ramp after a number of bytes; introduced with fio 3.42
    run the workload with fio: --engine fio
    ");
}
