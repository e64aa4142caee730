//! What might change the load.

use insta::assert_snapshot;

use super::*;

#[test]
fn what_might_change_the_load_is_refused_by_name() {
    let texts = [
        "docker run --rm -v /mnt:/data image fio --name=a",
        "sudo podman exec c fio --name=a",
        "kubectl exec pod -- fio --name=a",
        "ssh root@host fio --name=a",
        "ssh host 'fio --name=a --rw=read'",
        "cgexec -g blkio:slow fio --name=a",
        "systemd-run --scope -p IOReadIOPSMax=100 fio --name=a",
        "ip netns exec a fio --name=a",
        "eatmydata fio --name=a",
        "LD_PRELOAD=libx.so fio --name=a",
        "watch -n 1 fio --name=a",
        "for i in 1 2; do fio --name=a; done",
        "while true; do fio --name=a; done",
        "if true; then fio --name=a; fi",
        "frobnicate -x fio --name=a",
        "mkfs.xfs /dev/sdb && fio --name=a",
        "echo none > /sys/block/sdb/queue/scheduler; fio --name=a",
        "modprobe brd; fio --name=a",
        "dd if=/dev/zero of=x; fio --name=a",
        "cat job.fio | fio -",
        "fio --name=a | fio --name=b",
        "false || fio --name=a",
        "bash run.sh; fio --name=a",
        "fio --name=a; diskspd -c1G x",
        "fio --name=a --size=$SIZE",
        "bash -c \"fio --name='a b' --description=\\\"c\\\"\"",
        "eval fio --name=a",
        "time -p bash -c 'ssh host fio --name=a'",
        "wsl fio --name=a",
        "find . -exec fio --name=a {} +",
    ];
    for text in texts {
        assert!(read_as(text, Tool::Fio).starts_with("refused:"), "{text}");
    }
    assert_snapshot!(all(&texts, Tool::Fio), @r#"
    > docker run --rm -v /mnt:/data image fio --name=a
    refused: `docker` runs fio in a container, and iotax does not
      docker run --rm -v /mnt:/data image fio --name=a
      ^^^^^^ column 1
    start iotax inside it, or begin at `fio --name=a` to run it here
    > sudo podman exec c fio --name=a
    refused: `podman` runs fio in a container, and iotax does not
      sudo podman exec c fio --name=a
           ^^^^^^ column 6
    start iotax inside it, or begin at `fio --name=a` to run it here
    > kubectl exec pod -- fio --name=a
    refused: `kubectl` runs fio in a pod, and `iotax run` does not
      kubectl exec pod -- fio --name=a
      ^^^^^^^ column 1
    `iotax kube run` runs a workload in pods; or begin at `fio --name=a` to run it here
    > ssh root@host fio --name=a
    refused: `ssh` runs fio on another machine, and iotax does not
      ssh root@host fio --name=a
      ^^^ column 1
    start iotax on that machine, or have an agent there measure (--agent 'ssh HOST iotax agent'); or begin at `fio --name=a` to run it here
    > ssh host 'fio --name=a --rw=read'
    refused: `ssh` runs fio on another machine, and iotax does not
      ssh host 'fio --name=a --rw=read'
      ^^^ column 1
    start iotax on that machine, or have an agent there measure (--agent 'ssh HOST iotax agent'); or paste the fio command alone to run it here
    > cgexec -g blkio:slow fio --name=a
    refused: `cgexec` may limit fio, and iotax does not
      cgexec -g blkio:slow fio --name=a
      ^^^^^^ column 1
    to have that, start iotax itself under it, as in `cgexec ... iotax run ...`; to do without, begin at `fio --name=a`
    > systemd-run --scope -p IOReadIOPSMax=100 fio --name=a
    refused: `systemd-run` may limit fio, and iotax does not
      systemd-run --scope -p IOReadIOPSMax=100 fio --name=a
      ^^^^^^^^^^^ column 1
    to have that, start iotax itself under it, as in `systemd-run ... iotax run ...`; to do without, begin at `fio --name=a`
    > ip netns exec a fio --name=a
    refused: `ip` changes what fio sees of the machine, and iotax does not
      ip netns exec a fio --name=a
      ^^ column 1
    to have that, start iotax itself under it, as in `ip ... iotax run ...`; to do without, begin at `fio --name=a`
    > eatmydata fio --name=a
    refused: `eatmydata` turns the flushes of fio into nothing, and iotax does not
      eatmydata fio --name=a
      ^^^^^^^^^ column 1
    paste the fio command alone
    > LD_PRELOAD=libx.so fio --name=a
    refused: LD_PRELOAD loads code into the tool, and iotax does not
      LD_PRELOAD=libx.so fio --name=a
      ^^^^^^^^^^^^^^^^^^ column 1
    begin at `fio --name=a`
    > watch -n 1 fio --name=a
    refused: `watch` runs fio several times, and iotax does not
      watch -n 1 fio --name=a
      ^^^^^ column 1
    paste the fio command alone; iotax repeats trials itself (-n), and varies options with --matrix
    > for i in 1 2; do fio --name=a; done
    refused: `for` runs fio several times, and iotax does not
      for i in 1 2; do fio --name=a; done
      ^^^ column 1
    paste the fio command alone; iotax repeats trials itself (-n), and varies options with --matrix
    > while true; do fio --name=a; done
    refused: `while` runs fio several times, and iotax does not
      while true; do fio --name=a; done
      ^^^^^ column 1
    paste the fio command alone; iotax repeats trials itself (-n), and varies options with --matrix
    > if true; then fio --name=a; fi
    refused: `if` is for a shell, and no shell reads this
      if true; then fio --name=a; fi
      ^^ column 1
    paste the fio command alone
    > frobnicate -x fio --name=a
    refused: `frobnicate` stands in front of fio, and iotax does not know what it does
      frobnicate -x fio --name=a
      ^^^^^^^^^^ column 1
    begin at `fio --name=a`
    > mkfs.xfs /dev/sdb && fio --name=a
    refused: `mkfs.xfs` changes the machine, and iotax does not run it
      mkfs.xfs /dev/sdb && fio --name=a
      ^^^^^^^^ column 1
    leave it out; run it yourself before, if the test needs it
    > echo none > /sys/block/sdb/queue/scheduler; fio --name=a
    refused: `echo` changes the machine, and iotax does not run it
      echo none > /sys/block/sdb/queue/scheduler; fio --name=a
      ^^^^ column 1
    leave it out; run it yourself before, if the test needs it
    > modprobe brd; fio --name=a
    refused: `modprobe` changes the machine, and iotax does not run it
      modprobe brd; fio --name=a
      ^^^^^^^^ column 1
    leave it out; run it yourself before, if the test needs it
    > dd if=/dev/zero of=x; fio --name=a
    refused: `dd` moves data itself, and iotax does not run it
      dd if=/dev/zero of=x; fio --name=a
      ^^ column 1
    leave it out; run it yourself before, if the test needs it
    > cat job.fio | fio -
    refused: `-` reads a job file from elsewhere
      cat job.fio | fio -
                        ^ column 19
    save it as job.fio, and give that: iotax run job.fio TARGET
    > fio --name=a | fio --name=b
    refused: this fio reads what another one prints
      fio --name=a | fio --name=b
                     ^^^ column 16
    join the commands by `;` or `&`
    > false || fio --name=a
    refused: iotax does not run `false`
      false || fio --name=a
      ^^^^^ column 1
    leave it out; iotax reads fio, sleep and wait, and passes over what prints
    > bash run.sh; fio --name=a
    refused: `bash` runs a script, which is not here
      bash run.sh; fio --name=a
      ^^^^ column 1
    give the script itself: iotax run run.sh TARGET
    > fio --name=a; diskspd -c1G x
    refused: `diskspd` beside fio
      fio --name=a; diskspd -c1G x
                    ^^^^^^^ column 15
    give each tool a run of its own
    > fio --name=a --size=$SIZE
    refused: `$SIZE` is a variable of the shell, which is not known here
      fio --name=a --size=$SIZE
                          ^^^^^ column 21
    write its value, or put it in single quotes if it is meant for fio
    > bash -c "fio --name='a b' --description=\"c\""
    refused: a command in quotes with more quotes in it
      bash -c "fio --name='a b' --description=\"c\""
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ column 9
    paste the inner command alone
    > eval fio --name=a
    refused: `eval` is for a shell, and no shell reads this
      eval fio --name=a
      ^^^^ column 1
    paste the fio command alone
    > time -p bash -c 'ssh host fio --name=a'
    refused: `ssh` runs fio on another machine, and iotax does not
      time -p bash -c 'ssh host fio --name=a'
                       ^^^ column 18
    start iotax on that machine, or have an agent there measure (--agent 'ssh HOST iotax agent'); or begin at `fio --name=a'` to run it here
    > wsl fio --name=a
    refused: `wsl` runs fio on another machine, and iotax does not
      wsl fio --name=a
      ^^^ column 1
    start iotax on that machine, or have an agent there measure (--agent 'ssh HOST iotax agent'); or begin at `fio --name=a` to run it here
    > find . -exec fio --name=a {} +
    refused: `find` runs fio several times, and iotax does not
      find . -exec fio --name=a {} +
      ^^^^ column 1
    paste the fio command alone; iotax repeats trials itself (-n), and varies options with --matrix
    "#);
}
