use std::path::PathBuf;

use insta::assert_snapshot;
use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::{
    Aes, Cache, Counts, Delay, Fault, File, Flash, Mem, Queue, Throttle, Tier, abbreviated,
};

fn error(text: &str) -> String {
    abbreviated(Stack::parse(text).expect_err("refused"))
}

#[test]
fn layers_are_read_from_bottom_to_top_with_defaults_filled_in() {
    let stack = Stack::parse("file(size=2G) + aes + aes(sector=512)").unwrap();
    assert_eq!(
        stack.layers,
        [
            Layer::File(File { path: None, size_bytes: 2 << 30, thin: false }),
            Layer::Aes(Aes { key_bits: 256, sector_bytes: 4096 }),
            Layer::Aes(Aes { key_bits: 256, sector_bytes: 512 }),
        ]
    );
}

#[test]
fn every_parameter_is_read() {
    let stack = Stack::parse(
        "file(path=\"/mnt/my disk/a\", size=1G)+queue(workers=4)\n + delay( latency = 260us , \
         jitter=10us,)+throttle(iops=500,bw=60M,burst_iops=3.5k,burst_bw=170M,credits=30m,\
         unit=256k,counts=reads,group=vm)+flash(channels=4,latency=1ms,bw=1G,jitter=2us)+cache(size=64M)+\
         tier(size=43G)+fault(eio=0.5%,after=10,short=0.25,stall=1%,stall_time=1s)",
    )
    .unwrap();
    let mib = 1_048_576.0;
    assert_eq!(
        stack.layers,
        [
            Layer::File(File {
                path: Some(PathBuf::from("/mnt/my disk/a")),
                size_bytes: 1 << 30,
                thin: false,
            }),
            Layer::Queue(Queue { workers: 4 }),
            Layer::Delay(Delay { latency_ns: 260_000, jitter_ns: 10_000 }),
            Layer::Throttle(Throttle {
                iops: Some(500.0),
                bw_bytes: Some(60.0 * mib),
                burst_iops: Some(3500.0),
                burst_bw_bytes: Some(170.0 * mib),
                credits_ns: Some(1_800_000_000_000),
                io_unit_bytes: Some(256 << 10),
                counts: Counts::Reads,
                group: Some("vm".into()),
            }),
            Layer::Flash(Flash {
                channels: 4,
                latency_ns: 1_000_000,
                bw_bytes: 1024.0 * mib,
                jitter_ns: 2_000,
            }),
            Layer::Cache(Cache { size_bytes: 64 << 20 }),
            Layer::Tier(Tier { size_bytes: 43 << 30 }),
            Layer::Fault(Fault {
                eio: 0.005,
                after_ios: 10,
                short: 0.25,
                stall: 0.01,
                stall_ns: 1_000_000_000,
            }),
        ]
    );
}

#[test]
fn canonical_text_leaves_defaults_out() {
    let text = "mem( size=262144k )+aes(key=256,sector=4096)+delay(latency=2000us,jitter=0)";
    assert_snapshot!(Stack::parse(text).unwrap(), @"mem + aes + delay(latency=2ms)");
    let text = "file(size=128G, thin=true) + flash(channels=8) + flash(bw=1000)";
    assert_snapshot!(Stack::parse(text).unwrap(), @"file(size=128G, thin) + flash + flash(bw=1000)");
    let text = r#"file(path="/a b/c\"d", size=2048M)"#;
    assert_snapshot!(Stack::parse(text).unwrap(), @r#"file(path="/a b/c\"d", size=2G)"#);
}

#[test]
fn misspelt_names_are_pointed_at() {
    assert_snapshot!(error("file(size=2G) + ase"), @"
    unknown layer `ase`; did you mean `aes`?
      file(size=2G) + ase
                      ^^^ column 17
    known layers: ALL
    ");
    assert_snapshot!(error("mem + zfs"), @"
    unknown layer `zfs`; did you mean `nfs`?
      mem + zfs
            ^^^ column 7
    known layers: ALL
    ");
    assert_snapshot!(error("mem(siez=64M)"), @"
    unknown parameter `siez`; did you mean `size`?
      mem(siez=64M)
          ^^^^ column 5
    known parameters: size
    ");
    assert_snapshot!(error("mem + delay(latency=1ms, jiter=2us)"), @"
    unknown parameter `jiter`; did you mean `jitter`?
      mem + delay(latency=1ms, jiter=2us)
                               ^^^^^ column 26
    known parameters: latency, jitter
    ");
    assert_snapshot!(error("mem(path=/a)"), @"
    unknown parameter `path`
      mem(path=/a)
          ^^^^ column 5
    known parameters: size
    ");
}

#[test]
fn broken_structure_is_pointed_at() {
    assert_snapshot!(error(""), @"
    the stack is empty
    specify a base and the layers on it, for example file(size=2G) + aes
    ");
    assert_snapshot!(error("   "), @"
    the stack is empty
    specify a base and the layers on it, for example file(size=2G) + aes
    ");
    assert_snapshot!(error("mem + aes +"), @"
    expected a layer, found the end
      mem + aes +
                 ^ column 12
    ");
    assert_snapshot!(error("mem + + aes"), @"
    expected a layer, found `+`
      mem + + aes
            ^ column 7
    ");
    assert_snapshot!(error("mem aes"), @"
    expected `+` or the end, found `aes`
      mem aes
          ^^^ column 5
    ");
    assert_snapshot!(error("mem(size=64M"), @"
    expected `,` or `)`, found the end
      mem(size=64M
                  ^ column 13
    ");
    assert_snapshot!(error("mem(64M)"), @"
    `64M` is a value without a parameter name
      mem(64M)
          ^^^ column 5
    include the parameter name, as in mem(size=64M)
    ");
    assert_snapshot!(error("mem + delay(latency)"), @"
    expected `=` and a value: latency=DURATION, found `)`
      mem + delay(latency)
                         ^ column 20
    ");
    assert_snapshot!(error("mem + delay(latency=)"), @"
    expected a value for latency: DURATION, found `)`
      mem + delay(latency=)
                          ^ column 21
    ");
    assert_snapshot!(error("mem(=64M)"), @"
    expected a parameter of mem (size) or `)`, found `=`
      mem(=64M)
          ^ column 5
    ");
    assert_snapshot!(error("file(path=\"/a b, size=1G)"), @r#"
    this quote is not closed
      file(path="/a b, size=1G)
                ^^^^^^^^^^^^^^^ column 11
    add a " after the value
    "#);
    assert_snapshot!(error("mem(size=64M, size=32M)"), @"
    parameter `size` is given twice
      mem(size=64M, size=32M)
                    ^^^^ column 15
    ");
    assert_snapshot!(error("file(path=/a b)"), @"
    expected `,` or `)`, found `b`
      file(path=/a b)
                   ^ column 14
    ");
}

#[test]
fn bases_belong_at_the_bottom_and_only_there() {
    assert_snapshot!(error("aes + mem"), @"
    `aes` needs a base below it
      aes + mem
      ^^^ column 1
    start with a base, such as file: file(size=1G) + aes
    ");
    assert_snapshot!(error("mem + aes + file(size=1G)"), @"
    `file` is a second base, on top of `mem`
      mem + aes + file(size=1G)
                  ^^^^^^^^^^^^^ column 13
    a stack has one base, at the bottom; remove one of them
    ");
}

#[test]
fn values_in_the_wrong_unit_are_pointed_at() {
    assert_snapshot!(error("mem(size=64MB)"), @"
    `64MB` is not a size: `MB` is ambiguous: fio reads it as 2^20 bytes, disk vendors as 10^6
      mem(size=64MB)
               ^^^^ column 10
    use 64M or 64000000
    ");
    assert_snapshot!(error("mem(size=1000)"), @"
    mem: size: 1000 bytes is not a multiple of 4096
      mem(size=1000)
               ^^^^ column 10
    use a multiple of 4k above 0
    ");
    assert_snapshot!(error("mem + delay(latency=260)"), @"
    `260` is not a duration: the unit is missing
      mem + delay(latency=260)
                          ^^^ column 21
    use 260s, 260ms or 260us
    ");
    assert_snapshot!(error("mem + aes(key=128)"), @"
    `128` is not a valid choice: use 256
      mem + aes(key=128)
                    ^^^ column 15
    ");
    assert_snapshot!(error("mem + queue(workers=0)"), @"
    queue: workers: must be above 0
      mem + queue(workers=0)
                          ^ column 21
    ");
    assert_snapshot!(error("mem + queue(workers=4k)"), @"
    `4k` is not a whole number: unexpected `k` after the number
      mem + queue(workers=4k)
                          ^^ column 21
    use only digits, such as 4 or 4000
    ");
    assert_snapshot!(error("mem + fault(eio=5)"), @"
    `5` is not a share: more than 1
      mem + fault(eio=5)
                      ^ column 17
    use 5% if you mean percent
    ");
    assert_snapshot!(error("größe + delay(latency=1x)"), @"
    unknown layer `größe`
      größe + delay(latency=1x)
      ^^^^^ column 1
    known layers: ALL
    ");
    assert_snapshot!(error("file(path=/größe)\t+ delay(latency=1x)"), @"
    `1x` is not a duration: unknown unit `x`
      file(path=/größe) + delay(latency=1x)
                                        ^^ column 35
    specify a duration as 500ns, 200us, 2ms, 5s or 1m
    ");
    assert_snapshot!(error("file(path=\"\")"), @r#"
    `` is not a path: it is empty
      file(path="")
                ^^ column 11
    leave the parameter out
    "#);
}

#[test]
fn layers_that_would_do_nothing_are_refused() {
    assert_snapshot!(error("mem + delay"), @"
    delay: latency: is required
      mem + delay
            ^^^^^ column 7
    for example delay(latency=260us)
    ");
    assert_snapshot!(error("mem + delay(latency=1ms, jitter=2ms)"), @"
    delay: jitter: would make latencies negative
      mem + delay(latency=1ms, jitter=2ms)
                                      ^^^ column 33
    use a jitter no larger than the latency
    ");
    assert_snapshot!(error("mem + throttle"), @"
    throttle: iops: iops or bw is required
      mem + throttle
            ^^^^^^^^ column 7
    for example throttle(iops=4000), or throttle(iops=4000, bw=32M)
    ");
    assert_snapshot!(error("mem + throttle(group=a)"), @"
    throttle: iops: iops or bw is required
      mem + throttle(group=a)
            ^^^^^^^^^^^^^^^^^ column 7
    for example throttle(iops=4000), or throttle(iops=4000, bw=32M)
    ");
    assert_snapshot!(error("mem + throttle(iops=0)"), @"
    throttle: iops: a limit of 0 would block every I/O
      mem + throttle(iops=0)
                          ^ column 21
    ");
    assert_snapshot!(error("mem + throttle(iops=500, burst_iops=500, credits=1m)"), @"
    throttle: burst_iops: must be above the sustained rate, which is also required
      mem + throttle(iops=500, burst_iops=500, credits=1m)
                                          ^^^ column 37
    for example iops=500, burst_iops=3500
    ");
    assert_snapshot!(error("mem + throttle(iops=500, burst_iops=3500)"), @"
    throttle: credits: a burst rate requires credits, the time that a full bucket lasts at that rate
      mem + throttle(iops=500, burst_iops=3500)
            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ column 7
    for example credits=30m, as on Azure disks
    ");
    assert_snapshot!(error("mem + throttle(iops=500, credits=30m)"), @"
    throttle: credits: credits have no effect without a burst rate
      mem + throttle(iops=500, credits=30m)
                                       ^^^ column 34
    add burst_iops or burst_bw
    ");
    assert_snapshot!(error("mem + throttle(bw=1M, unit=256k)"), @"
    throttle: unit: must be above 0, and iops must also be set
      mem + throttle(bw=1M, unit=256k)
                                 ^^^^ column 28
    for example iops=500, unit=256k
    ");
    assert_snapshot!(error("mem + throttle(iops=500, unit=0)"), @"
    throttle: unit: must be above 0, and iops must also be set
      mem + throttle(iops=500, unit=0)
                                    ^ column 31
    for example iops=500, unit=256k
    ");
    assert_snapshot!(error("mem + flash(bw=0)"), @"
    flash: bw: a limit of 0 would block every I/O
      mem + flash(bw=0)
                     ^ column 16
    ");
    assert_snapshot!(error("mem + flash(jitter=1ms)"), @"
    flash: jitter: would make service times negative
      mem + flash(jitter=1ms)
                         ^^^ column 20
    use a jitter no larger than the latency
    ");
    assert_snapshot!(error("mem + tier"), @"
    tier: size: is required
      mem + tier
            ^^^^ column 7
    for example tier(size=43G)
    ");
    assert_snapshot!(error("file(path=/a, thin)"), @"
    file: thin: only an unnamed file can be thin; at a path, iotax uses an existing file as is, and fills a new one
      file(path=/a, thin)
                    ^^^^ column 15
    leave out path or thin
    ");
    assert_snapshot!(error("mem + cache"), @"
    cache: size: is required
      mem + cache
            ^^^^^ column 7
    for example cache(size=64M)
    ");
    assert_snapshot!(error("mem + fault(after=5)"), @"
    fault: eio: no fault is given
      mem + fault(after=5)
            ^^^^^^^^^^^^^^ column 7
    use fault(eio=1%), fault(short=1%) or fault(stall=1%, stall_time=1s)
    ");
    assert_snapshot!(error("mem + fault(stall=1%)"), @"
    fault: stall: requires both stall and stall_time
      mem + fault(stall=1%)
                        ^^ column 19
    for example fault(stall=1%, stall_time=1s)
    ");
}

fn base() -> impl Strategy<Value = Layer> {
    let size = (1..1u64 << 40).prop_map(|sectors| sectors * 4096);
    let path = option::of(r#"[a-zA-Z0-9/ "\\(),=+.ü-]{1,20}"#.prop_map(PathBuf::from));
    prop_oneof![
        size.clone().prop_map(|size_bytes| Layer::Mem(Mem { size_bytes })),
        (path, size.clone()).prop_map(|(path, size_bytes)| Layer::File(File {
            path,
            size_bytes,
            thin: false
        })),
        size.prop_map(|size_bytes| Layer::File(File { path: None, size_bytes, thin: true })),
    ]
}

fn throttle() -> impl Strategy<Value = Layer> {
    let counts = prop_oneof![Just(Counts::Both), Just(Counts::Reads), Just(Counts::Writes)];
    let limit = || option::of((1.0..1e9, option::of((1.001..100.0, 1..u64::MAX))));
    (limit(), limit(), option::of(1..u64::MAX), counts, option::of("[a-z ]{1,8}"))
        .prop_filter("a limit", |(iops, bw, ..)| iops.is_some() || bw.is_some())
        .prop_map(|(iops, bw, unit, counts, group)| {
            let burst = |limit: Option<(f64, Option<(f64, u64)>)>| {
                limit.and_then(|(rate, burst)| burst.map(|(factor, ns)| (rate * factor, ns)))
            };
            Layer::Throttle(Throttle {
                iops: iops.map(|(rate, _)| rate),
                bw_bytes: bw.map(|(rate, _)| rate),
                burst_iops: burst(iops).map(|(rate, _)| rate),
                burst_bw_bytes: burst(bw).map(|(rate, _)| rate),
                credits_ns: burst(iops).or(burst(bw)).map(|(_, ns)| ns),
                io_unit_bytes: unit.filter(|_| iops.is_some()),
                counts,
                group,
            })
        })
}

fn layer() -> impl Strategy<Value = Layer> {
    prop_oneof![
        prop_oneof![Just(512), Just(4096)]
            .prop_map(|sector_bytes| Layer::Aes(Aes { key_bits: 256, sector_bytes })),
        (1..u32::MAX).prop_map(|workers| Layer::Queue(Queue { workers })),
        any::<(u64, u64)>()
            .prop_map(|(a, b)| Layer::Delay(Delay { latency_ns: a.max(b), jitter_ns: a.min(b) })),
        throttle(),
        (1..u32::MAX, any::<(u64, u64)>(), 1.0..1e12).prop_map(|(channels, (a, b), bw_bytes)| {
            Layer::Flash(Flash { channels, latency_ns: a.max(b), bw_bytes, jitter_ns: a.min(b) })
        }),
        (4096..u64::MAX).prop_map(|size_bytes| Layer::Cache(Cache { size_bytes })),
        (4096..u64::MAX).prop_map(|size_bytes| Layer::Tier(Tier { size_bytes })),
        (0.001..=1.0, any::<u64>(), 0.0..=1.0, option::of((0.001..=1.0, 1..u64::MAX))).prop_map(
            |(eio, after_ios, short, stall)| {
                let (stall, stall_ns) = stall.unwrap_or((0.0, 0));
                Layer::Fault(Fault { eio, after_ios, short, stall, stall_ns })
            }
        ),
    ]
}

proptest! {
    #[test]
    fn canonical_text_reads_back_to_the_same_stack(
        base in base(),
        above in proptest::collection::vec(layer(), 0..5),
    ) {
        let layers = std::iter::once(base).chain(above).collect();
        let stack = Stack { layers };
        prop_assert_eq!(Stack::parse(&stack.to_string()), Ok(stack));
    }

    #[test]
    fn no_text_panics(
        text in prop_oneof![
            ".*",
            r#"(mem|file|aes|delay|throttle|fault|[(),=+" ]|size|latency|iops|1[kms]?|ü){0,20}"#,
        ]
    ) {
        if let Err(error) = Stack::parse(&text) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}

#[test]
fn more_layers_than_any_path_has_are_counted_and_not_read() {
    let stack = |layers: usize| vec!["aes"; layers - 1].join(" + ");
    let text = |layers| format!("mem(size=1M) + {}", stack(layers));
    assert_eq!(Stack::parse(&text(Stack::MOST_LAYERS)).unwrap().layers.len(), Stack::MOST_LAYERS);
    assert_snapshot!(error(&text(Stack::MOST_LAYERS + 1)), @"
    the stack has 65 layers, but the maximum is 64
    remove some layers
    ");
    assert_snapshot!(error(&text(100_000)), @"
    the stack has 100000 layers, but the maximum is 64
    remove some layers
    ");
}

#[test]
fn of_a_long_word_a_message_quotes_the_beginning() {
    let told = error(&format!("mem(size={}) + aes", "x".repeat(1 << 20)));
    assert!(told.len() < 2000, "{}", told.len());
    let told = error(&"layer".repeat(1 << 20));
    assert!(told.len() < 2000, "{}", told.len());
}
