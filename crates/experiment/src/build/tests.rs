use insta::assert_snapshot;

use super::*;
use crate::target::parse_arms;

fn peel(text: &str, subsets: Subsets) -> Result<Draft, Error> {
    let stack = Stack::parse(text).unwrap();
    let workload = Workload::peel_search(stack.size_bytes().unwrap());
    let draft = Draft::peel(vec![workload], &stack, subsets)?;
    draft.validate()?;
    Ok(draft)
}

fn arms(spec: &Draft) -> String {
    let line = |arm: &Arm| format!("{}: {}", arm.name, arm.target);
    spec.arms.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn two_layers_make_four_arms() {
    let spec = peel("file(size=2G) + aes + aes(sector=512)", Subsets::Auto).unwrap();
    assert_snapshot!(arms(&spec), @"
    bare: file(size=2G)
    aes: file(size=2G) + aes
    aes#2: file(size=2G) + aes(sector=512)
    aes + aes#2: file(size=2G) + aes + aes(sector=512)
    ");
    let layers = vec!["aes".to_owned(), "aes#2".to_owned()];
    assert_eq!(spec.design, Design::Peel { layers, masks: vec![0, 1, 2, 3] });
}

#[test]
fn four_layers_make_ten_arms_or_sixteen_on_request() {
    let text = "mem + aes + queue + cache(size=1M) + aes";
    let spec = peel(text, Subsets::Auto).unwrap();
    assert_snapshot!(arms(&spec), @"
    bare: mem
    aes: mem + aes
    queue: mem + queue
    cache: mem + cache(size=1M)
    aes#2: mem + aes
    queue + cache + aes#2: mem + queue + cache(size=1M) + aes
    aes + cache + aes#2: mem + aes + cache(size=1M) + aes
    aes + queue + aes#2: mem + aes + queue + aes
    aes + queue + cache: mem + aes + queue + cache(size=1M)
    aes + queue + cache + aes#2: mem + aes + queue + cache(size=1M) + aes
    ");
    assert_eq!(peel(text, Subsets::All).unwrap().arms.len(), 16);
}

#[test]
fn stacks_that_cannot_be_peeled_are_refused() {
    assert_snapshot!(peel("mem", Subsets::Auto).unwrap_err(), @"
    stack: the stack has no layer to remove
    add layers to the base, as in file(size=2G) + aes + aes; a peel keeps file systems and loop devices, because the load needs them
    ");
    assert_snapshot!(peel(&format!("mem{}", " + aes".repeat(5)), Subsets::All).unwrap_err(), @"
    stack: all subsets of 5 layers would require 32 arms
    use at most 4 layers, or do not request all subsets
    ");
    assert_snapshot!(peel(&format!("mem{}", " + aes".repeat(40)), Subsets::Auto).unwrap_err(), @"
    stack: 40 layers are too many
    use at most 30
    ");
    assert_snapshot!(peel("mem(size=64k) + aes", Subsets::Auto).unwrap_err(), @"
    job `searcher`: block-size: 1M blocks do not fit into a span of 64k
    increase size or reduce block-size
    ");
}

fn compare(texts: &[&str], change: impl FnOnce(&mut Stop)) -> String {
    let mut stop = Stop::default();
    change(&mut stop);
    let arms = parse_arms(texts.iter().copied()).unwrap();
    let workload = Workload::preset("seqread-1m").unwrap();
    Spec::compare(workload, arms, stop, 1).unwrap_err().to_string()
}

#[test]
fn impossible_comparisons_are_refused() {
    let both = ["a=/a", "b=mem"];
    assert_snapshot!(compare(&["a=/a"], |_| ()), @"
    a comparison needs at least two arms
    give two or more arms, as in base=/mnt/a other=/mnt/b
    ");
    assert_snapshot!(compare(&["a=/a", "b=mem(size=64k)"], |_| ()), @"
    arm `b`, job `io`: block-size: 1M blocks do not fit on the 64k disk
    increase the size of the stack or reduce block-size
    ");
    assert_snapshot!(compare(&both, |stop| stop.margin = 5.0), @"
    margin: 5 is not between 0 and 1
    5% is a typical value
    ");
    assert_snapshot!(compare(&both, |stop| stop.alpha = 0.0), @"
    alpha: 0 is not between 0 and 0.5
    5% is a typical value
    ");
    assert_snapshot!(compare(&both, |stop| stop.max_blocks = 2), @"max-blocks: 2 is below min-blocks (4)");
    assert_snapshot!(compare(&both, |stop| stop.min_blocks = 0), @"
    min-blocks: 0 blocks would give no result
    use at least 1
    ");
    assert_snapshot!(compare(&both, |stop| stop.max_time_ns = Some(0)), @"max-time: must be above 0");
}

#[test]
fn in_process_engines_need_stacks() {
    let arm = Arm::parse("a=/a").unwrap();
    let workload = Workload::peel_search(1 << 30);
    let error = Spec::single(workload, arm, Stop::default(), 1).unwrap_err();
    assert_snapshot!(error, @"
    arm `a`, job `searcher`: engine: vdisk works only on stacks, not on the path /a
    use engine=io_uring, psync or mmap
    ");
}

#[test]
fn paths_are_relative_to_the_directory() {
    let texts = ["a=b/c", "d=/e", "f=~/g", "h=file(path=i) + aes", "j=mem"];
    let arms = parse_arms(texts).unwrap();
    let workload = Workload::preset("randread-4k").unwrap();
    let mut spec = Draft::compare(vec![workload], arms).unwrap();
    spec.resolve_paths(Path::new("/base"), Some(Path::new("/home/me")));
    let targets: Vec<_> = spec.arms.iter().map(|arm| arm.target.to_string()).collect();
    assert_eq!(targets, ["/base/b/c", "/e", "/home/me/g", "file(path=/base/i) + aes", "mem"]);
}

#[test]
fn what_a_stack_of_this_process_cannot_do_is_refused_before_the_first_trial() {
    let searcher = || Workload::preset("driver-searcher").unwrap();
    let build = |targets: [&str; 2]| {
        Spec::compare(searcher(), parse_arms(targets).unwrap(), Stop::default(), 1)
    };
    assert_snapshot!(build(["a=mem(size=4G)", "b=/b"]).unwrap_err(), @r#"
    arm `a`, job `download`: write-through: mem(size=4G) is simulated inside iotax and does not support write-through
    leave out write-through, use fsync-every=1, or mount the layers with vdisk(stack="...")
    "#);
    build(["a=vdisk(stack=\"mem(size=4G)\") + ext4", "b=/b"]).unwrap();
    let etcd = || Workload::preset("etcd-wal").unwrap();
    let arm = |target| Arm::new("target", Target::parse(target).unwrap());
    let build = |target| Spec::single(etcd(), arm(target), Stop::default(), 1);
    assert_snapshot!(build("mem(size=1G)").unwrap_err(), @r#"
    arm `target`, job `wal`: block-size: mem(size=1G) supports only I/O in whole sectors of 512 bytes
    choose another block-size, or add a file system on top of the stack, because a file system allows any size: vdisk(stack="...") + ext4
    "#);
    build("vdisk(stack=\"mem(size=1G)\") + ext4").unwrap();
}
