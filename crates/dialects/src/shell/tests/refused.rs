//! Texts that might change the load.

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
    assert_snapshot!("refused", all(&texts, Tool::Fio));
}
