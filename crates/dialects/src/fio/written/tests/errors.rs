//! What is said of texts that cannot be read.

use insta::assert_snapshot;

use super::*;

fn file_error(text: &str) -> String {
    read_job_file("job.fio", text, &files).unwrap_err().to_string()
}

fn command_error(text: &str) -> String {
    read_command(text, &files).unwrap_err().to_string()
}

#[test]
fn errors_in_job_files_name_the_line() {
    let cases = [
        "[a]\nreadwrit=read\n",
        "[a]\nblocksizes = 4k\n",
        "[a]\nxyzzy\n",
        "[a]\nuserspace_reap\n",
        "[a]\nfadvise_stream=1\n",
        "[a]\nbs=4x ; four\n",
        "[a]\nbs\n",
        "[a]\nrw = randread\n",
        "[a]\nsize=${SIZE}\n",
        "[a]\nsize=$mb_memory\n",
        "[a]\nnumjobs=$ncpus*2\n",
        "bs=4k\n",
        "[a\nbs=4k\n",
        "[]\n",
        "[global]\nbs=4k\n",
        "",
        "[a]\ninclude nothing.inc\n",
        "[a]\ninclude section.inc\n",
        "[a]\ninclude loop.inc\n",
        "[a]\npercentage_sequential=3\n",
    ];
    let said: Vec<_> = cases.iter().map(|text| file_error(text)).collect();
    assert_snapshot!(said.join("\n\n"), @r"
    job.fio:2:1: no fio up to 3.42 has an option `readwrit`; did you mean `readwrite`?
      2 | readwrit=read
        | ^^^^^^^^
    `fio --cmdhelp=all` lists those of the fio on this machine

    job.fio:2:1: no fio up to 3.42 has an option `blocksizes`; did you mean `blocksize`?
      2 | blocksizes = 4k
        | ^^^^^^^^^^
    `fio --cmdhelp=all` lists those of the fio on this machine

    job.fio:2:1: no fio up to 3.42 has an option `xyzzy`
      2 | xyzzy
        | ^^^^^
    `fio --cmdhelp=all` lists those of the fio on this machine

    job.fio:2:1: `userspace_reap` is an option of the engine libaio, and this one is psync
      2 | userspace_reap
        | ^^^^^^^^^^^^^^
    set ioengine=libaio first, or leave it out

    job.fio:2:1: `fadvise_stream` was an option of fio 2.2.7 to 2.21
      2 | fadvise_stream=1
        | ^^^^^^^^^^^^^^
    write write_hint

    job.fio:2:4: bs: fio has no unit `x`, it would read `4x` as a bare number
      2 | bs=4x ; four
        |    ^^
    write k, m, g, t or p, or no unit

    job.fio:2:1: bs: has no value
      2 | bs
        | ^^
    write bs=VALUE

    job.fio:2:6: rw: fio does not know ` randread`, because a blank stands in front of it
      2 | rw = randread
        |      ^^^^^^^^
    write no blank behind the equals sign

    job.fio:2:6: `${SIZE}` is not set in the environment
      2 | size=${SIZE}
        |      ^^^^^^^
    set it in front of the command, SIZE=VALUE iotax ..., or write its value

    job.fio:2:6: `$mb_memory` is a fact of the machine, and none is known here
      2 | size=$mb_memory
        |      ^^^^^^^^^^
    write the number

    job.fio:2:9: `$ncpus` is a fact of the machine, and none is known here
      2 | numjobs=$ncpus*2
        |         ^^^^^^
    write the number

    job.fio:1:1: this stands in front of the first section
      1 | bs=4k
        | ^^^^^
    begin with [global] or with a job, [job1]

    job.fio:1:1: the name of a section ends in ], and nothing follows
      1 | [a
        | ^^
    write [job1]

    job.fio:1:1: the name of a section has 1 to 254 bytes
      1 | []
        | ^^
    write [job1]

    job.fio has no job
    begin a job with a line such as [job1]; [global] alone is none

    job.fio has no job
    begin a job with a line such as [job1]; [global] alone is none

    job.fio:2:1: `nothing.inc` cannot be included: no such file
      2 | include nothing.inc
        | ^^^^^^^^^^^^^^^^^^^

    section.inc:1:1: an included file cannot begin a section
      1 | [b]
        | ^^^
    fio takes options only in included files

    loop.inc:1:1: files include each other more than 16 deep
      1 | include loop.inc
        | ^^^^^^^^^^^^^^^^
    does a file include itself?

    job.fio:2:1: percentage_sequential: fio 3.33 no longer has this option
      2 | percentage_sequential=3
        | ^^^^^^^^^^^^^^^^^^^^^^^
    write percentage_random: 100 minus this
    ");
}

#[test]
fn errors_in_commands_underline_the_word() {
    let cases = [
        "fio --name=a --readwrit=read --blocksizes=4k",
        "fio --name=a --iod=4",
        "fio --name=a --bs=4x",
        "fio --name=a --bs '4 x'",
        "fio --name=a --bs",
        "fio --name=a --bs= --rw=read",
        "fio --name=a --hipri",
        "fio --rw=read",
        "for i in 1 2; do fio --name=a; done",
        "--name=a",
        "",
        "sleep 3",
        "sleep; fio --name=a",
        "sleep 1x; fio --name=a",
        "sleep 1 2; fio --name=a",
        "fio --showcmd job.fio",
        "fio --client=host --name=a",
        "fio nothing.fio",
    ];
    let said: Vec<_> = cases.iter().map(|text| command_error(text)).collect();
    assert_snapshot!(said.join("\n\n"), @"
    no fio up to 3.42 has an option `blocksizes`; did you mean `blocksize`?
      fio --name=a --readwrit=read --blocksizes=4k
                                     ^^^^^^^^^^ column 32
    `fio --cmdhelp=all` lists those of the fio on this machine

    `iod` may be the beginning of several options
      fio --name=a --iod=4
                   ^^^^^^^ column 14
    write one of them: iodepth, iodepth_batch, iodepth_batch_submit, iodepth_batch_complete_min, iodepth_batch_complete, iodepth_batch_complete_max

    bs: fio has no unit `x`, it would read `4x` as a bare number
      fio --name=a --bs=4x
                        ^^ column 19
    write k, m, g, t or p, or no unit

    bs: fio has no unit ` x`, it would read `4 x` as a bare number
      fio --name=a --bs '4 x'
                        ^^^^^ column 19
    write k, m, g, t or p, or no unit

    bs: has no value
      fio --name=a --bs
                   ^^^^ column 14
    write --bs=VALUE

    bs: has no value
      fio --name=a --bs= --rw=read
                   ^^^^^ column 14
    write --bs=VALUE

    `hipri` is an option of the engine io_uring, io_uring_cmd, sg, pvsync2, xnvme, libblkio, and this one is psync
      fio --name=a --hipri
                     ^^^^^ column 16
    set ioengine=io_uring first, or leave it out

    this command has no job
      fio --rw=read
      ^^^^^^^^^^^^^ column 1
    write --name=NAME in front of a job's options, or name a job file

    `for` runs fio several times, and iotax does not
      for i in 1 2; do fio --name=a; done
      ^^^ column 1
    paste the fio command alone; iotax repeats trials itself (-n), and varies options with --matrix

    `--name=a` is not a fio command
      --name=a
      ^^^^^^^^ column 1
    begin with fio

    this has no fio command
    begin with fio --name=...

    this has no fio command
    begin with fio --name=...

    sleep takes one time
      sleep; fio --name=a
      ^^^^^ column 1
    write seconds: sleep 10

    sleep takes one time
      sleep 1x; fio --name=a
            ^^ column 7
    write seconds: sleep 10

    sleep takes one time
      sleep 1 2; fio --name=a
              ^ column 9
    write seconds: sleep 10

    --showcmd makes fio print something instead of running jobs
      fio --showcmd job.fio
          ^^^^^^^^^ column 5
    leave it out

    --client lets fio run on another machine
      fio --client=host --name=a
          ^^^^^^^^^^^^^ column 5
    leave it out

    `nothing.fio` cannot be read: no such file
      fio nothing.fio
          ^^^^^^^^^^^ column 5
    ");
}

#[test]
fn of_a_script_the_line_is_named() {
    let cases = [
        "# two jobs\nfio --name=a &\nmkfs.ext4 /mnt/b\nfio --name=b\n",
        "fio --name=a \\\n  --bs=4x \\\n  --rw=read\nwait\n",
        "fio --name=a\nfor i in 1 2; do\n  fio --name=b\ndone\n",
        "fio --name=a\nfio --name=b --size=$SIZE\n",
        "set -e\nfio --rw=read\n",
    ];
    let said: Vec<_> = cases.iter().map(|text| command_error(text)).collect();
    assert_snapshot!(said.join("\n\n"), @r"
    the script:3:1: `mkfs.ext4` changes the machine, and iotax does not run it
      3 | mkfs.ext4 /mnt/b
        | ^^^^^^^^^
    leave it out; run it yourself before, if the test needs it

    the script:2:8: bs: fio has no unit `x`, it would read `4x` as a bare number
      2 |   --bs=4x \
        |        ^^
    write k, m, g, t or p, or no unit

    the script:2:1: `for` runs fio several times, and iotax does not
      2 | for i in 1 2; do
        | ^^^
    paste the fio command alone; iotax repeats trials itself (-n), and varies options with --matrix

    the script:2:21: `$SIZE` is a variable of the shell, which is not known here
      2 | fio --name=b --size=$SIZE
        |                     ^^^^^
    write its value, or put it in single quotes if it is meant for fio

    the script:2:1: this command has no job
      2 | fio --rw=read
        | ^^^^^^^^^^^^^
    write --name=NAME in front of a job's options, or name a job file
    ");
    let in_file = |text: &str| read_script("run.sh", text, &files).unwrap_err().to_string();
    assert_snapshot!(in_file("#!/bin/sh\nfio --name=a --iodepth=many\n"), @"
    run.sh:2:24: iodepth: `many` is not a number
      2 | fio --name=a --iodepth=many
        |                        ^^^^
    ");
    assert_snapshot!(in_file("fio --name=a --iodepth=many\n"), @"
    run.sh:1:24: iodepth: `many` is not a number
      1 | fio --name=a --iodepth=many
        |                        ^^^^
    ");
}

#[test]
fn what_only_a_shell_can_do_is_named() {
    let cases = [
        "fio --name=a --size=$SIZE",
        "fio --name=a --size=\"${SIZE}\"",
        "fio --name=a --size=$(cat size)",
        "fio --name=a --size=`cat size`",
        "fio - < job.fio",
        "fio - << END",
        "(fio --name=a) &",
        "{ fio --name=a; }",
        "fio --name=a --filename=/dev/nvme*n1",
        "fio --name='a",
        "fio --name=\"a",
    ];
    let said: Vec<_> = cases.iter().map(|text| command_error(text)).collect();
    assert_snapshot!(said.join("\n\n"), @r#"
    `$SIZE` is a variable of the shell, which is not known here
      fio --name=a --size=$SIZE
                          ^^^^^ column 21
    write its value, or put it in single quotes if it is meant for fio

    `${SIZE}` is a variable of the shell, which is not known here
      fio --name=a --size="${SIZE}"
                           ^^^^^^^ column 22
    write its value, or put it in single quotes if it is meant for fio

    a command in $( ) is for a shell, and no shell reads this
      fio --name=a --size=$(cat size)
                          ^^ column 21
    write what it stands for

    a command in backquotes is for a shell, and no shell reads this
      fio --name=a --size=`cat size`
                          ^ column 21
    write what it stands for

    `-` reads a job file from elsewhere
      fio - < job.fio
          ^ column 5
    save it as job.fio, and give that: iotax run job.fio TARGET

    the job file follows here, in lines of its own
      fio - << END
            ^^ column 7
    save those lines as job.fio, and give that: iotax run job.fio TARGET

    a group in parentheses is for a shell, and no shell reads this
      (fio --name=a) &
      ^ column 1
    put the word in single quotes if it is meant for fio

    a group in braces is for a shell, and no shell reads this
      { fio --name=a; }
      ^ column 1
    write what it stands for

    a pattern for file names is for a shell, and no shell reads this
      fio --name=a --filename=/dev/nvme*n1
                                       ^ column 34
    put the word in single quotes if it is meant for fio

    this quote is not closed
      fio --name='a
                 ^^ column 12
    put the same quote behind the value

    this quote is not closed
      fio --name="a
                 ^^ column 12
    put the same quote behind the value
    "#);
}

#[test]
fn bounds_keep_time_and_memory_small() {
    let many_jobs = "[a]\n".repeat(5000);
    assert_snapshot!(file_error(&many_jobs), @r"
    job.fio:4097:1: more than 4096 jobs
      4097 | [a]
           | ^^^
    fio takes no more
    ");
    let many_settings = format!("[global]\n{}{}", "bs=1\n".repeat(1000), "[a]\n".repeat(100));
    assert_snapshot!(file_error(&many_settings), @r"
    job.fio:1067:1: more than 65536 settings, those of [global] counted once per job
      1067 | [a]
           | ^^^
    split it
    ");
    let long = format!("[a]\ndescription={}\n", "x".repeat(9000));
    assert_snapshot!(file_error(&long), @r"
    job.fio:2:1: the line is longer than 8190 bytes
      2 | 
        | ^
    split it
    ");
    let longer = format!("[a]\n{}", "# comment\n".repeat(500_000));
    assert_snapshot!(file_error(&longer), @r"
    the text is longer than 4 MiB, with all included files
    split it
    ");
    assert_snapshot!(file_error(&format!("[{}]\n", "x".repeat(300))).lines().next().unwrap(), @"job.fio:1:1: the name of a section has 1 to 254 bytes");
}
