//! Errors for texts that cannot be read.

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
    assert_snapshot!(said.join("\n\n"), @"
    job.fio:2:1: fio up to 3.42 has no option `readwrit`; did you mean `readwrite`?
      2 | readwrit=read
        | ^^^^^^^^
    `fio --cmdhelp=all` lists the options of the fio on this machine

    job.fio:2:1: fio up to 3.42 has no option `blocksizes`; did you mean `blocksize`?
      2 | blocksizes = 4k
        | ^^^^^^^^^^
    `fio --cmdhelp=all` lists the options of the fio on this machine

    job.fio:2:1: fio up to 3.42 has no option `xyzzy`
      2 | xyzzy
        | ^^^^^
    `fio --cmdhelp=all` lists the options of the fio on this machine

    job.fio:2:1: `userspace_reap` works only with libaio, but this job uses psync
      2 | userspace_reap
        | ^^^^^^^^^^^^^^
    set ioengine=libaio first, or leave it out

    job.fio:2:1: `fadvise_stream` exists only in fio 2.2.7 to 2.21
      2 | fadvise_stream=1
        | ^^^^^^^^^^^^^^
    write write_hint

    job.fio:2:4: bs: fio has no unit `x` and would read `4x` as a plain number
      2 | bs=4x ; four
        |    ^^
    write k, m, g, t or p, or no unit

    job.fio:2:1: bs: has no value
      2 | bs
        | ^^
    write bs=VALUE

    job.fio:2:6: rw: fio does not recognize ` randread`, because the value starts with a space
      2 | rw = randread
        |      ^^^^^^^^
    remove the space after the equals sign

    job.fio:2:6: `${SIZE}` is not set in the environment
      2 | size=${SIZE}
        |      ^^^^^^^
    set it before the command, as in SIZE=VALUE iotax ..., or replace it with its value

    job.fio:2:6: `$mb_memory` depends on the machine, and iotax does not know the machine yet
      2 | size=$mb_memory
        |      ^^^^^^^^^^
    replace it with the number

    job.fio:2:9: `$ncpus` depends on the machine, and iotax does not know the machine yet
      2 | numjobs=$ncpus*2
        |         ^^^^^^
    replace it with the number

    job.fio:1:1: this line is before the first section
      1 | bs=4k
        | ^^^^^
    start with [global] or with a job such as [job1]

    job.fio:1:1: a section name must end with ], with nothing after the bracket
      1 | [a
        | ^^
    use a name such as [job1]

    job.fio:1:1: a section name must be 1 to 254 bytes long
      1 | []
        | ^^
    use a name such as [job1]

    job.fio has no job
    add a job section such as [job1]; [global] alone does not define a job

    job.fio has no job
    add a job section such as [job1]; [global] alone does not define a job

    job.fio:2:1: cannot include `nothing.inc`: no such file
      2 | include nothing.inc
        | ^^^^^^^^^^^^^^^^^^^

    section.inc:1:1: an included file cannot start a section
      1 | [b]
        | ^^^
    fio allows only options in included files

    loop.inc:1:1: include lines are nested more than 16 levels deep
      1 | include loop.inc
        | ^^^^^^^^^^^^^^^^
    check whether a file includes itself

    job.fio:2:1: percentage_sequential: fio 3.33 no longer has this option
      2 | percentage_sequential=3
        | ^^^^^^^^^^^^^^^^^^^^^^^
    set percentage_random to 100 minus this value
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
    fio up to 3.42 has no option `blocksizes`; did you mean `blocksize`?
      fio --name=a --readwrit=read --blocksizes=4k
                                     ^^^^^^^^^^ column 32
    `fio --cmdhelp=all` lists the options of the fio on this machine

    `iod` is ambiguous: several options start with it
      fio --name=a --iod=4
                   ^^^^^^^ column 14
    use one of them: iodepth, iodepth_batch, iodepth_batch_submit, iodepth_batch_complete_min, iodepth_batch_complete, iodepth_batch_complete_max

    bs: fio has no unit `x` and would read `4x` as a plain number
      fio --name=a --bs=4x
                        ^^ column 19
    write k, m, g, t or p, or no unit

    bs: fio has no unit ` x` and would read `4 x` as a plain number
      fio --name=a --bs '4 x'
                        ^^^^^ column 19
    write k, m, g, t or p, or no unit

    bs: has no value
      fio --name=a --bs
                   ^^^^ column 14
    use --bs=VALUE

    bs: has no value
      fio --name=a --bs= --rw=read
                   ^^^^^ column 14
    use --bs=VALUE

    `hipri` works only with io_uring, io_uring_cmd, sg, pvsync2, xnvme, libblkio, but this job uses psync
      fio --name=a --hipri
                     ^^^^^ column 16
    set ioengine=io_uring first, or leave it out

    this command has no job
      fio --rw=read
      ^^^^^^^^^^^^^ column 1
    write --name=NAME before the options of a job, or give a job file

    `for` runs fio several times, which iotax does not do
      for i in 1 2; do fio --name=a; done
      ^^^ column 1
    paste only the fio command; iotax repeats trials itself (-n) and varies options with --matrix

    `--name=a` is not a fio command
      --name=a
      ^^^^^^^^ column 1
    start with fio

    there is no fio command
    start with fio --name=...

    there is no fio command
    start with fio --name=...

    sleep takes exactly one duration
      sleep; fio --name=a
      ^^^^^ column 1
    specify the duration in seconds, as in sleep 10

    sleep takes exactly one duration
      sleep 1x; fio --name=a
            ^^ column 7
    specify the duration in seconds, as in sleep 10

    sleep takes exactly one duration
      sleep 1 2; fio --name=a
              ^ column 9
    specify the duration in seconds, as in sleep 10

    --showcmd makes fio print information instead of running jobs
      fio --showcmd job.fio
          ^^^^^^^^^ column 5
    leave it out

    --client lets fio run on another machine
      fio --client=host --name=a
          ^^^^^^^^^^^^^ column 5
    leave it out

    cannot read `nothing.fio`: no such file
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
    the script:3:1: `mkfs.ext4` changes the machine, so iotax does not run it
      3 | mkfs.ext4 /mnt/b
        | ^^^^^^^^^
    leave out this command, or run it yourself first if the test needs it

    the script:2:8: bs: fio has no unit `x` and would read `4x` as a plain number
      2 |   --bs=4x \
        |        ^^
    write k, m, g, t or p, or no unit

    the script:2:1: `for` runs fio several times, which iotax does not do
      2 | for i in 1 2; do
        | ^^^
    paste only the fio command; iotax repeats trials itself (-n) and varies options with --matrix

    the script:2:21: `$SIZE` is a shell variable whose value iotax does not know
      2 | fio --name=b --size=$SIZE
        |                     ^^^^^
    replace the variable with its value, or put it in single quotes if it is meant for fio

    the script:2:1: this command has no job
      2 | fio --rw=read
        | ^^^^^^^^^^^^^
    write --name=NAME before the options of a job, or give a job file
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
    `$SIZE` is a shell variable whose value iotax does not know
      fio --name=a --size=$SIZE
                          ^^^^^ column 21
    replace the variable with its value, or put it in single quotes if it is meant for fio

    `${SIZE}` is a shell variable whose value iotax does not know
      fio --name=a --size="${SIZE}"
                           ^^^^^^^ column 22
    replace the variable with its value, or put it in single quotes if it is meant for fio

    a command in $( ) needs a shell, but iotax does not run one
      fio --name=a --size=$(cat size)
                          ^^ column 21
    replace the command with its output

    a command in backquotes needs a shell, but iotax does not run one
      fio --name=a --size=`cat size`
                          ^ column 21
    replace the command with its output

    `-` reads a job file from standard input
      fio - < job.fio
          ^ column 5
    save it as job.fio, then run: iotax run job.fio TARGET

    a job file follows on the next lines
      fio - << END
            ^^ column 7
    save the lines as job.fio, then run: iotax run job.fio TARGET

    a group in parentheses needs a shell, but iotax does not run one
      (fio --name=a) &
      ^ column 1
    put the word in single quotes if it is meant for fio

    a group in braces needs a shell, but iotax does not run one
      { fio --name=a; }
      ^ column 1
    leave out the braces, or replace the group with the text that it expands to

    a pattern for file names needs a shell, but iotax does not run one
      fio --name=a --filename=/dev/nvme*n1
                                       ^ column 34
    put the word in single quotes if it is meant for fio

    this quote is not closed
      fio --name='a
                 ^^ column 12
    add the same quote after the value

    this quote is not closed
      fio --name="a
                 ^^ column 12
    add the same quote after the value
    "#);
}

#[test]
fn bounds_keep_time_and_memory_small() {
    let many_jobs = "[a]\n".repeat(5000);
    assert_snapshot!(file_error(&many_jobs), @r"
    job.fio:4097:1: there are more than 4096 jobs
      4097 | [a]
           | ^^^
    use fewer jobs; fio does not support more
    ");
    let many_settings = format!("[global]\n{}{}", "bs=1\n".repeat(1000), "[a]\n".repeat(100));
    assert_snapshot!(file_error(&many_settings), @r"
    job.fio:1067:1: there are more than 65536 settings; settings in [global] count once per job
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
    the text, with all included files, is longer than 4 MiB
    split it
    ");
    assert_snapshot!(file_error(&format!("[{}]\n", "x".repeat(300))).lines().next().unwrap(), @"job.fio:1:1: a section name must be 1 to 254 bytes long");
}
