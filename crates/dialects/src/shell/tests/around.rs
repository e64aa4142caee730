//! Text around a command that changes nothing.

use insta::assert_snapshot;

use super::*;

/// Text before fio.
const FRONTS: &[&str] = &[
    "sudo",
    "sudo -E",
    "sudo -u root",
    "sudo -n -H --",
    "sudo --user=root",
    "doas",
    "time",
    "sudo time",
    "time sudo",
    "/usr/bin/time -v",
    "\\time -f %e",
    "nice -n -20",
    "nice -19",
    "nice",
    "ionice -c2 -n0",
    "ionice -c 1",
    "chrt -f 50",
    "chrt --rr 99",
    "taskset -c 0-3",
    "taskset 0xf",
    "taskset --cpu-list 0,2",
    "numactl -N 0 -m 0",
    "numactl --cpunodebind=0 --membind=0",
    "numactl --interleave all",
    "numactl -C 0-7 --localalloc",
    "env LC_ALL=C",
    "env -i A=b C=d",
    "LC_ALL=C",
    "A=b C='d e'",
    "stdbuf -oL",
    "stdbuf -o L -e L",
    "timeout 60",
    "timeout -k 5 60s",
    "timeout --signal=INT 2m",
    "nohup",
    "setsid -w",
    "unbuffer",
    "exec",
    "command",
    "strace -c -f -o /tmp/trace",
    "perf stat -e cycles",
    "perf record -g -o p.data --",
    "sudo LC_ALL=C numactl -N0 nice -n5",
    "$",
    "#",
    "% ",
    "user@host:~$",
    "root@host:/mnt#",
    "[root@host ~]#",
    "[user@host data]$ sudo",
    "bash-5.1#",
    "(venv) user@host:~$",
    "PS C:\\>",
    "C:\\Users\\a>",
    "\u{276f}",
    "\u{279c}  ~",
];

#[test]
fn what_stands_in_front_of_fio_is_left_out() {
    for front in FRONTS {
        same(&[&format!("{front} fio --name=a --rw=read")], Tool::Fio, "--name=a --rw=read");
    }
    let programs = [
        "/usr/bin/fio",
        "./fio",
        "fio.exe",
        "\"C:\\Program Files\\fio\\fio.exe\"",
        "'/opt/my fio/fio'",
        "$HOME/bin/fio",
        "~/fio-3.36/fio",
        "FIO.EXE",
        "& \"C:\\fio\\fio.exe\"",
        ".\\fio.exe",
    ];
    for program in programs {
        same(&[&format!("{program} --name=a --rw=read")], Tool::Fio, "--name=a --rw=read");
    }
    let shells = [
        "bash -c '",
        "sh -c \"",
        "sudo bash -lc '",
        "cmd /c \"",
        "powershell -Command \"",
        "pwsh -NoProfile -c '& ",
        "su - root -c '",
        "script -q -c '",
        "sudo sh -c 'sudo ",
    ];
    for shell in shells {
        let quote = if shell.contains('"') { '"' } else { '\'' };
        same(&[&format!("{shell}fio --name=a --rw=read{quote}")], Tool::Fio, "--name=a --rw=read");
    }
    let told = [
        "sudo -u root numactl -N 0 fio --name=a",
        "env A=b timeout 60 fio --name=a",
        "taskset -c 0-3 nice -n 5 time strace -c fio --name=a",
    ];
    assert_snapshot!(all(&told, Tool::Fio), @"
    > sudo -u root numactl -N 0 fio --name=a
    [0+0] --name=a
      sudo -u root: start iotax itself as root if the target requires root
      numactl -N 0: ignored; to use these CPUs or nodes, start iotax under this command
    > env A=b timeout 60 fio --name=a
    [0+0] --name=a
      env: ignored; this command does not affect the I/O
      A=b: not set for iotax
      timeout 60: ignored; set the measured time with --time
    > taskset -c 0-3 nice -n 5 time strace -c fio --name=a
    [0+0] --name=a
      taskset -c 0-3: ignored; to use these CPUs or nodes, start iotax under this command
      nice -n 5: ignored; to use this priority, start iotax under this command
      time: ignored; this command does not affect the I/O
      strace -c: ignored; tracing would slow down the I/O
    ");
}

#[test]
fn what_follows_is_left_out() {
    let behind = [
        "> out.txt",
        ">out.txt",
        ">> out.txt 2>&1",
        "2>&1 | tee out.txt",
        "| tee -a out.txt",
        "&> log",
        "&>> log",
        "2> /dev/null",
        "< /dev/null",
        "> \"out $(date).txt\"",
        "| grep IOPS",
        "| jq '.jobs[0].read.iops'",
        "&& rm -f /mnt/data/test",
        "; rm -rf /mnt/data/*",
        "|| exit 1",
        "&& echo done",
        "; sync",
        "| sed 's/a/b/' | awk '{print $1}'",
        "&",
        "; sleep 5",
        "&& date",
        "# a comment",
        "| Out-File x.txt",
        "2>&1 | Tee-Object x.txt",
        "*> x.txt",
        ">| out.txt",
    ];
    for end in behind {
        same(&[&format!("fio --name=a --rw=read {end}")], Tool::Fio, "--name=a --rw=read");
    }
    let told = [
        "fio --name=a --output-format=json | jq .jobs > out.json",
        "fio --name=a 2>&1 | tee out && rm -f /mnt/x || echo $?",
    ];
    assert_snapshot!(all(&told, Tool::Fio), @"
    > fio --name=a --output-format=json | jq .jobs > out.json
    [0+0] --name=a --output-format=json
      | jq .jobs > out.json: ignored; iotax writes its own reports
    > fio --name=a 2>&1 | tee out && rm -f /mnt/x || echo $?
    [0+0] --name=a
      2>&1: ignored; iotax writes its own reports
      | tee out: ignored; iotax writes its own reports
      rm -f /mnt/x: not run; iotax creates and removes its own test files
      echo $?: skipped; it runs only after a failure
    ");
}

#[test]
fn what_is_published_in_front_of_it_is_left_out() {
    let before = [
        "sync; ",
        "sync && echo 3 > /proc/sys/vm/drop_caches && ",
        "sync\necho 3 | sudo tee /proc/sys/vm/drop_caches\n",
        "sudo sysctl vm.drop_caches=3\n",
        "sudo sh -c 'echo 3 > /proc/sys/vm/drop_caches'\n",
        "cd /mnt/data && ",
        "mkdir -p /mnt/data/fio; ",
        "rm -f /mnt/fio/*\n",
        "#!/bin/bash\nset -e\n# fio --name=old\n",
        "echo \"start $i\" && ",
        "apt-get install -y fio\n",
        "which fio\n",
        "export LC_ALL=C\n",
        "SIZE=4G\n",
        "date; ",
        "iostat -x 1 > io.log &\n",
        "yes | ",
        "lsblk -o NAME,SIZE | grep fio\n",
        "$ apt install fio\n$ ",
        "touch a & ",
    ];
    for front in before {
        same(&[&format!("{front}fio --name=a --rw=read")], Tool::Fio, "--name=a --rw=read");
    }
    let pasted = "user@host:~$ sudo fio --name=a \\\n> --rw=read\na: (g=0): rw=read, bs=4k\nfio-3.33\nuser@host:~$ fio --name=b\n";
    assert_snapshot!(all(&[pasted, "sync; echo 3 > /proc/sys/vm/drop_caches; fio --name=a"], Tool::Fio), @r"
    > user@host:~$ sudo fio --name=a \
    > --rw=read
    a: (g=0): rw=read, bs=4k
    fio-3.33
    user@host:~$ fio --name=b

    [0+0] --name=a --rw=read
    [1+0] --name=b
      sudo: start iotax itself as root if the target requires root
    > sync; echo 3 > /proc/sys/vm/drop_caches; fio --name=a
    [0+0] --name=a
      sync: not run; write back dirty pages before you start iotax
      echo 3: not run; iotax changes the page cache only for its test files
    ");
}
