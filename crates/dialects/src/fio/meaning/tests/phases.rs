use insta::assert_snapshot;

use super::phases;

const GLOBAL: &str = "[global]\nsize=1g\ntime_based\nruntime=10\n";

fn with_global(text: &str) -> String {
    phases(&format!("{GLOBAL}{text}"))
}

#[test]
fn stonewalls_and_waits_part_phases() {
    assert_snapshot!(with_global("[a]\n[b]\nstonewall\n[c]\n[d]\nwait_for_previous"), @"
    a: 0s ramp, 10s
      a: as usual
    b + c: 0s ramp, 10s
      b: as usual
      c: as usual
    d: 0s ramp, 10s
      d: as usual
    ");
    assert_snapshot!(with_global("[a]\nstonewall\n[b]\nstonewall=0"), @"
    test: 0s ramp, 10s
      a: as usual
      b: as usual
    ");
    assert_snapshot!(with_global("[a]\n[b]\nwait_for=a\n[c]\nwait_for=b\n[d]\nstonewall"), @"
    a: 0s ramp, 10s
      a: as usual
    b: 0s ramp, 10s
      b: as usual
    c: 0s ramp, 10s
      c: as usual
    d: 0s ramp, 10s
      d: as usual
    ");
    assert_snapshot!(with_global("[a]\n[b]\n[c]\nwait_for=a"), @"
    test: 0s ramp, 10s
      a: as usual
      b: as usual
      c: [wait_for=a: starts when one of several jobs ends]
    ");
    assert_snapshot!(with_global("[a]\n[b]\nwait_for=a\n[c]"), @"
    a: 0s ramp, 10s
      a: as usual
    b + c: 0s ramp, 10s
      b: [wait_for=a: starts while other jobs are still running]
      c: as usual
    ");
    assert_snapshot!(with_global("[a]\n[b]\nstonewall\n[c]\nwait_for=a"), @"
    a: 0s ramp, 10s
      a: as usual
    b + c: 0s ramp, 10s
      b: as usual
      c: as usual
    ");
}

/// iotax can verify only data that it has written with its own checksums.
#[test]
fn a_reader_verifies_what_an_earlier_job_of_the_file_wrote() {
    let writer = "[w]\nfilename=f\nrw=write\nverify=meta\ndo_verify=0\nfill_device=1\n";
    let reader = "[r]\nstonewall\nfilename=f\nrw=read\nverify=meta\nverify_fatal=1";
    assert_snapshot!(with_global(&format!("{writer}{reader}")), @"
    w: 0s ramp, 10s
      w: files={shared:f} invalidate=false read_percent=0 verify_apart=true
      note: test.fio, line 8: verify=meta: iotax writes its own checksums, which a later job in this file can verify
      note: test.fio, line 10: fill_device=1: iotax writes up to the size; change it with --set size=SIZE
    r: 0s ramp, 10s
      r: files={shared:f} verify_apart=true verify_ends=true
      note: test.fio, line 15: verify=meta: iotax verifies its own checksums, which another job of this file writes
    ");
    let another = reader.replace("=f", "=g");
    assert_snapshot!(with_global(&format!("{writer}{another}")), @"
    w: 0s ramp, 10s
      w: files={shared:f} invalidate=false read_percent=0 verify_apart=true
      note: test.fio, line 8: verify=meta: iotax writes its own checksums, which a later job in this file can verify
      note: test.fio, line 10: fill_device=1: iotax writes up to the size; change it with --set size=SIZE
    r: 0s ramp, 10s
      r: files={shared:g} [verify=meta: verifies data that no other job of this file writes]
    ");
    assert_snapshot!(with_global(&format!("{reader}\n{writer}")), @"
    test: 0s ramp, 10s
      r: files={shared:f} [verify=meta: verifies data that no other job of this file writes]
      w: files={shared:f} invalidate=false read_percent=0 verify_apart=true
      note: test.fio, line 14: verify=meta: iotax writes its own checksums, which a later job in this file can verify
      note: test.fio, line 16: fill_device=1: iotax writes up to the size; change it with --set size=SIZE
    ");
}

#[test]
fn windows_are_told() {
    assert_snapshot!(with_global("[a]\nruntime=12\n[b]\nstartdelay=2"), @"
    test: 2s ramp, 10s
      a: as usual
      b: start_delay_ns=2000000000
      note: test.fio, line 6: runtime=12: measured together with other jobs: for 10s, starting at 2s
    ");
    assert_snapshot!(with_global("[a]\nramp_time=3\n[b]\nruntime=60"), @"
    test: 3s ramp, 57s
      a: end_after_ns=13000000000
      b: as usual
      note: test.fio, line 8: runtime=60: measured together with other jobs: for 57s, starting at 3s
    ");
    assert_snapshot!(with_global("[a]\nruntime=60\n[b]\nstartdelay=4\nruntime=5"), @"
    test: 0s ramp, 1m
      a: as usual
      b: end_after_ns=9000000000 start_delay_ns=4000000000
    ");
    // The first job ends before the ramp of the other does, so the other determines the window.
    assert_snapshot!(with_global("[a]\nruntime=5\n[b]\nramp_time=8\nruntime=60"), @"
    test: 8s ramp, 1m
      a: end_after_ns=5000000000
      b: as usual
      note: test.fio, line 6: runtime=5: not measured, because the job ends before the other jobs' ramp ends
    ");
    assert_snapshot!(with_global("[a]\nruntime=60\n[b]\nexitall\nruntime=5"), @"
    test: 0s ramp, 5s
      a: as usual
      b: ends_all=true
      note: test.fio, line 6: runtime=60: measured together with other jobs: for 5s, starting at 0s
    ");
    assert_snapshot!(with_global("[a]\n[b]\nstonewall\nstartdelay=20"), @"
    a: 0s ramp, 10s
      a: as usual
    b: 20s ramp, 10s
      b: start_delay_ns=20000000000
      note: test.fio, line 8: startdelay=20: counts from the start of the phase; in fio, it counts from the start of fio
    ");
    assert_snapshot!(phases("[a]\nsize=1m\n[b]\nsize=1m\nstartdelay=4"), @"
    test: 0s ramp, 604s
      a: bound={bytes:1048576} size_bytes=1048576
      b: bound={bytes:1048576} size_bytes=1048576 start_delay_ns=4000000000
      note: test.fio, line 1: job `a` has no runtime; a trial ends when all bytes are transferred, or after 604s
      note: test.fio, line 3: job `b` has no runtime; a trial ends when all bytes are transferred, or after 604s
    ");
}

#[test]
fn names_become_names_of_files() {
    assert_snapshot!(with_global("[a]\n[a]\n[a b/c]\n[index]\n[a-2]"), @"
    test: 0s ramp, 10s
      a: as usual
      a-2: as usual
      a_b_c: as usual
      index-2: as usual
      a-2-2: as usual
      note: test.fio, line 6: job `a` is renamed to `a-2`
      note: test.fio, line 7: job `a b/c` is renamed to `a_b_c`
      note: test.fio, line 8: job `index` is renamed to `index-2`
      note: test.fio, line 9: job `a-2` is renamed to `a-2-2`
    ");
}

#[test]
fn who_ends_with_whom() {
    assert_snapshot!(with_global("[a]\nexitall\n[b]"), @"
    test: 0s ramp, 10s
      a: ends_all=true
      b: as usual
    ");
    assert_snapshot!(with_global("[a]\nexitall\n[b]\nnew_group"), @"
    test: 0s ramp, 10s
      a: as usual
      b: as usual
    ");
    assert_snapshot!(with_global("[a]\nexitall\nexit_what=stonewall\n[b]\nnew_group"), @"
    test: 0s ramp, 10s
      a: ends_all=true
      b: as usual
    ");
    assert_snapshot!(with_global("[a]\nexitall\nexit_what=all\n[b]\nstonewall"), @"
    a: 0s ramp, 10s
      a: ends_all=true [exit_what=all: prevents later phases from running]
    b: 0s ramp, 10s
      b: as usual
    ");
}

#[test]
fn what_is_global_is_said_once() {
    assert_snapshot!(with_global("[global]\ndirectory=/x\nss=iops:10%\n[a]\n[b]"), @"
    test: 0s ramp, 10s
      a: target=x
      b: target=x
      note: test.fio, line 6: directory=/x: replaced by TARGET
      note: test.fio, line 7: steadystate=iops:10%: iotax itself decides how long to measure
    ");
}
