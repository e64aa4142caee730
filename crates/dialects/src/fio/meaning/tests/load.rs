use insta::assert_snapshot;

use super::job;

#[test]
fn engines() {
    assert_snapshot!(job("ioengine=psync"), @"as usual");
    assert_snapshot!(job("ioengine=sync\niodepth=8"), @"
    [ioengine=sync: kept]
    note: iodepth=8: a synchronous engine keeps one I/O in flight, as in fio
    ");
    assert_snapshot!(job("ioengine=vsync"), @"
    [ioengine=vsync: kept]
    note: ioengine=vsync: iotax uses psync and does not merge adjacent I/Os
    ");
    assert_snapshot!(job("ioengine=mmap"), @"engine=mmap");
    assert_snapshot!(job("ioengine=mmap\ndirect=1"), @"[ioengine=mmap: with direct=1, releases the mapped pages after each I/O]");
    assert_snapshot!(job("ioengine=io_uring\niodepth=32\ndirect=1"), @"direct=true engine=io_uring invalidate=false queue_depth=32 submit_batch=1");
    assert_snapshot!(job("ioengine=io_uring\nsqthread_poll\nfixedbufs\nregisterfiles\nhipri"), @"engine=io_uring sqpoll=true submit_batch=1 [fixedbufs: kept] [registerfiles: kept] [hipri: polls the device for completions]");
    assert_snapshot!(job("ioengine=libaio\niodepth=8\nbuffered=0"), @"
    direct=true engine=io_uring invalidate=false queue_depth=8 submit_batch=1 [ioengine=libaio: kept]
    note: ioengine=libaio: iotax uses io_uring
    ");
    assert_snapshot!(job("ioengine=libaio\niodepth=8"), @"
    engine=io_uring queue_depth=8 submit_batch=1 [ioengine=libaio: kept]
    note: ioengine=libaio: iotax uses io_uring; in fio, buffered libaio does one I/O at a time
    ");
    assert_snapshot!(job("ioengine=posixaio\ndirect=1"), @"
    direct=true engine=io_uring invalidate=false submit_batch=1 [ioengine=posixaio: kept]
    note: ioengine=posixaio: iotax uses io_uring
    ");
    // Threads of fio would keep 8 I/Os in flight; with one, or with an asynchronous engine, they
    // only replace the thread of the job.
    assert_snapshot!(job("ioengine=psync\niodepth=8\nio_submit_mode=offload"), @"
    [iodepth=8: kept] [io_submit_mode=offload: keeps several I/Os of a synchronous engine in flight, each in its own thread]
    ");
    assert_snapshot!(job("ioengine=io_uring\niodepth=8\ndirect=1\nio_submit_mode=offload"), @"
    direct=true engine=io_uring invalidate=false queue_depth=8 submit_batch=1 [io_submit_mode=offload: kept]
    note: io_submit_mode=offload: each thread submits its own I/Os; in fio, other threads submit them
    ");
    assert_snapshot!(job("io_submit_mode=inline"), @"as usual");
    assert_snapshot!(job("ioengine=null"), @"engine=null invalidate=false");
    assert_snapshot!(job("ioengine=cpuio\ncpuload=50\niodepth=4"), @"[ioengine=cpuio: an engine that exists only in fio] [iodepth=4: kept] [cpuload=50: an option of an engine that exists only in fio]");
    assert_snapshot!(job("ioengine=external:/tmp/x.so"), @"[ioengine=external:/tmp/x.so: an engine that exists only in fio]");
}

#[test]
fn directions_and_mixes() {
    assert_snapshot!(job("rw=write"), @"invalidate=false read_percent=0");
    assert_snapshot!(job("rw=rw"), @"
    read_percent=50
    note: rw=rw: reads and writes share one file position; in fio, each has its own
    ");
    assert_snapshot!(job("rw=randrw\nrwmixread=70"), @"pattern=shuffled read_percent=70");
    assert_snapshot!(job("rw=randrw\nrwmixread=70\nrwmixwrite=60"), @"pattern=shuffled read_percent=40");
    assert_snapshot!(job("rw=randread\nrwmixread=70"), @"pattern=shuffled");
    assert_snapshot!(job("rw=randtrim"), @"invalidate=false pattern=shuffled read_percent=0 trims=only");
    assert_snapshot!(job("rw=trim:12k\nbs=4k,8k,16k\nend_fsync=1\nverify=crc32c\nzero_buffers"), @"block_sizes={fixed:16384} invalidate=false pattern={strided:28672} read_percent=0 trims=only");
    assert_snapshot!(job("rw=trimwrite\nbs=8k\nverify=crc32c"), @"
    block_sizes={fixed:8192} invalidate=false read_percent=0 trims=first verify=true
    note: verify=crc32c: iotax verifies the data with its own checksum, after the measured window
    ");
    assert_snapshot!(job("rw=trimwrite\nbs=4k,8k,16k"), @"block_sizes={fixed:8192} invalidate=false read_percent=0 trims=first [rw=trimwrite: trims and writes at different offsets]");
    // As in fio, a random write has the size of the trim.
    assert_snapshot!(job("rw=randtrimwrite\nbs=4k,8k,16k"), @"block_sizes={fixed:16384} invalidate=false pattern=shuffled read_percent=0 trims=first");
    assert_snapshot!(job("rw=randtrimwrite:4"), @"invalidate=false pattern={runs:{fixed:4}} read_percent=0 trims=first [rw=randtrimwrite:4: trims and writes at different offsets]");
    assert_snapshot!(job("rw=trim\nrate_iops=10,20,30"), @"invalidate=false pace={even:{iops:30.0}} read_percent=0 trims=only");
    assert_snapshot!(job("rw=trimwrite\nrate_iops=10"), @"invalidate=false read_percent=0 trims=first [rate_iops=10: a rate for writes that each follow a trim]");
}

#[test]
fn orders() {
    assert_snapshot!(job("rw=randread"), @"pattern=shuffled");
    assert_snapshot!(job("rw=randread\nnorandommap"), @"pattern=random");
    assert_snapshot!(job("rw=randread\nnorandommap=0"), @"pattern=shuffled");
    assert_snapshot!(job("rw=randread\nnorandommap\nrandom_generator=lfsr"), @"pattern=shuffled [random_generator=lfsr: kept]");
    assert_snapshot!(job("rw=randread\nnorandommap\nrandom_generator=tausworthe64"), @"pattern=random [random_generator=tausworthe64: kept]");
    assert_snapshot!(job("rw=read:4k"), @"pattern={strided:8192}");
    assert_snapshot!(job("rw=read:-8k"), @"pattern={backward:4096}");
    assert_snapshot!(job("rw=read:4k\nbsrange=4k-8k"), @"block_sizes={range:{max:8192,min:4096}} [rw=read:4k: skips in a way that iotax does not support]");
    assert_snapshot!(job("rw=randread:8"), @"pattern={runs:{fixed:8}}");
    assert_snapshot!(job("rw=randread:8\nrw_sequencer=identical"), @"pattern=shuffled [rw_sequencer=identical: accesses the same offset several times in a row] [rw=randread:8: accesses the same offset several times in a row]");
    assert_snapshot!(job("rw=randread\npercentage_random=30"), @"pattern={mixed:{random_percent:30}}");
    assert_snapshot!(job("rw=randread\npercentage_random=0"), @"as usual");
    assert_snapshot!(job("rw=randrw\npercentage_random=100,0"), @"pattern=shuffled read_percent=50 write_pattern=sequential");
    assert_snapshot!(job("rw=read\npercentage_random=30"), @"as usual");
    assert_snapshot!(job("rw=randread\nrandom_distribution=zipf:1.2"), @"pattern={skewed:{zipf:1.2}}");
    assert_snapshot!(job("rw=randread\nrandom_distribution=zipf"), @"pattern={skewed:{zipf:1.1}}");
    assert_snapshot!(job("rw=randread\nrandom_distribution=pareto:0.3"), @"pattern={skewed:{pareto:0.3}}");
    assert_snapshot!(job("rw=randread\nrandom_distribution=normal:20"), @"pattern={skewed:{normal:20.0}}");
    assert_snapshot!(job("rw=randread\nioengine=io_uring\nbs=4k\ncmdprio_bssplit=4k/10/2/0/1:4k/60/2/0/0"), @"engine=io_uring pattern=shuffled priorities=[{bytes:4096,percent:10,priority:{class:best_effort,level:0},reads:true},{bytes:4096,percent:60,priority:{class:best_effort,level:0},reads:true}] submit_batch=1 [cmdprio_bssplit=4k/10/2/0/1:4k/60/2/0/0: gives hints to the disk]");
    assert_snapshot!(job("rw=randread\nrandom_distribution=zipf:1.2:0.5"), @"pattern={centred:{centre:0.5,skew:{zipf:1.2}}}");
    assert_snapshot!(job("rw=randread\nrandom_distribution=normal:10:0.25"), @"pattern={centred:{centre:0.25,skew:{normal:10.0}}}");
    assert_snapshot!(job("rw=randread\nrandom_distribution=zoned:50/5:30/15:20/"), @"pattern={zoned:[{accesses_percent:50,extent:{percent:5}},{accesses_percent:30,extent:{percent:15}},{accesses_percent:20,extent:{percent:80}}]}");
}

#[test]
fn shares() {
    assert_snapshot!(job("flow=8\nflow_id=2\nflow_sleep=1000"), @"flow={group:2,sleep_ns:1000000,weight:8}");
    assert_snapshot!(job("zonesize=1m\nzoneskip=7m"), @"stretches={bytes:1048576,range_bytes:1048576,skip_bytes:7340032}");
    assert_snapshot!(job("zonemode=strided\nzonesize=1m\nzonerange=2m"), @"stretches={bytes:1048576,range_bytes:2097152,skip_bytes:0}");
    assert_snapshot!(job("zonemode=none\nzonesize=1m"), @"as usual");
    assert_snapshot!(job("zonemode=zbd\nzonesize=1m"), @"[zonemode=zbd: writes at the write pointers of a zoned disk] [zonesize=1m: writes at the write pointers of a zoned disk]");
    assert_snapshot!(job("prio=3"), @"priority={class:best_effort,level:3}");
    assert_snapshot!(job("prioclass=3"), @"priority={class:idle,level:0}");
    assert_snapshot!(job("ioengine=libaio\ndirect=1\nrw=randrw\ncmdprio_percentage=20,0\ncmdprio=2"), @"
    direct=true engine=io_uring invalidate=false pattern=shuffled priorities=[{percent:20,priority:{class:real_time,level:2},reads:true}] read_percent=50 submit_batch=1 [ioengine=libaio: kept]
    note: ioengine=libaio: iotax uses io_uring
    ");
    assert_snapshot!(job("ioengine=io_uring\nrw=randrw\nbssplit=64k/40:1024k/60,1024k/100\ncmdprio_bssplit=64k/25/1/1:64k/75/3/2:1024k/0,1024k/0"), @"
    block_sizes={split:[{bytes:65536,percent:40},{bytes:1048576,percent:60}]} engine=io_uring pattern=random priorities=[{bytes:65536,percent:25,priority:{class:real_time,level:1},reads:true},{bytes:65536,percent:75,priority:{class:idle,level:2},reads:true}] read_percent=50 submit_batch=1 write_block_sizes={fixed:1048576}
    note: rw=randrw: each offset is drawn independently, because the block sizes differ
    ");
    assert_snapshot!(job("numa_cpu_nodes=0-1\nnuma_mem_policy=interleave:0-1"), @"numa={cpu_nodes:[0,1],memory:{interleave:[0,1]}}");
    assert_snapshot!(job("numjobs=3\noffset_increment=1g\nsize=1g"), @"offset_increment_bytes=1073741824 threads=3");
    assert_snapshot!(job("rw=write\nzero_buffers"), @"content={chunk_bytes:4096,compress_percent:100,dedupe_percent:0,shared_set:false} invalidate=false read_percent=0");
    assert_snapshot!(job("rw=write\nbuffer_pattern=\"abcd\"-120xdeadface"), @"content={chunk_bytes:4096,compress_percent:100,dedupe_percent:0,pattern:[97,98,99,100,244,255,255,255,222,173,250,206],shared_set:false} invalidate=false read_percent=0");
    assert_snapshot!(job("rw=write\nbuffer_pattern='/etc/shadow'"), @"invalidate=false read_percent=0 [buffer_pattern='/etc/shadow': data from a file, or data that contains its offset]");
    assert_snapshot!(job("rw=write\nbuffer_compress_percentage=50\ndedupe_percentage=30\ndedupe_mode=working_set\ndedupe_global=1"), @"content={chunk_bytes:512,compress_percent:50,dedupe_percent:30,shared_set:true,working_set_percent:5} invalidate=false read_percent=0");
    assert_snapshot!(job("rw=write\nverify=pattern\nverify_pattern=0xaa555aa5\nverify_interval=512"), @"
    content={chunk_bytes:4096,compress_percent:100,dedupe_percent:0,pattern:[170,85,90,165],shared_set:false} invalidate=false read_percent=0 verify=true
    note: verify_interval=512: iotax writes a header every 4k, or in every block if blocks are smaller
    note: verify=pattern: iotax verifies the data with its own checksum, after the measured window
    ");
    assert_snapshot!(job("rw=write\nverify=pattern\nverify_pattern=0xaa%o"), @"
    invalidate=false read_percent=0 verify=true [verify_pattern=0xaa%o: data from a file, or data that contains its offset]
    note: verify=pattern: iotax verifies the data with its own checksum, after the measured window
    ");
    assert_snapshot!(job("rw=read\nverify=meta\nverify_pattern=0xaa"), @"[verify=meta: verifies data that no other job of this file writes]");
    assert_snapshot!(job("rw=randread\niodepth=64\nlatency_target=500\nlatency_window=5000000\nlatency_percentile=99.9"), @"
    latency_target={keeps_on:false,percentile:99.9,target_ns:500000,window_ns:5000000000} pattern=shuffled
    note: iodepth=64: a synchronous engine keeps one I/O in flight, as in fio
    ");
    assert_snapshot!(job("rw=read\nbuffer_compress_percentage=50"), @"as usual");
}

#[test]
fn block_sizes() {
    assert_snapshot!(job("bs=64k"), @"block_sizes={fixed:65536}");
    assert_snapshot!(job("bs=64k,4k"), @"block_sizes={fixed:65536}");
    assert_snapshot!(job("rw=write\nbs=64k,4k"), @"invalidate=false read_percent=0");
    assert_snapshot!(job("rw=write\nbs=64k\nbs=,8k"), @"block_sizes={fixed:8192} invalidate=false read_percent=0");
    assert_snapshot!(job("rw=randrw\nbs=64k,4k"), @"
    block_sizes={fixed:65536} pattern=random read_percent=50 write_block_sizes={fixed:4096}
    note: rw=randrw: each offset is drawn independently, because the block sizes differ
    ");
    assert_snapshot!(job("rw=randread\nbs=8k\nbsrange=4k-1M"), @"
    block_sizes={range:{max:1048576,min:4096}} pattern=random
    note: rw=randread: each offset is drawn independently, because the block sizes differ
    ");
    assert_snapshot!(job("bsrange=4k-4k"), @"as usual");
    assert_snapshot!(job("rw=randread\nbssplit=4k/60:64k/40"), @"
    block_sizes={split:[{bytes:4096,percent:60},{bytes:65536,percent:40}]} pattern=random
    note: rw=randread: each offset is drawn independently, because the block sizes differ
    ");
    assert_snapshot!(job("rw=randread\nbssplit=4k/60:64k/"), @"
    block_sizes={split:[{bytes:4096,percent:60},{bytes:65536,percent:40}]} pattern=random
    note: rw=randread: each offset is drawn independently, because the block sizes differ
    ");
    assert_snapshot!(job("rw=randread\nbssplit=8k"), @"block_sizes={fixed:8192} pattern=shuffled");
    assert_snapshot!(job("rw=randread\nbssplit=4k/60:64k/20"), @"
    block_sizes={split:[{bytes:4096,percent:80},{bytes:65536,percent:20}]} pattern=random
    note: rw=randread: each offset is drawn independently, because the block sizes differ
    ");
    assert_snapshot!(job("rw=randrw\nbssplit=4k/60:64k/40,8k/100"), @"
    block_sizes={split:[{bytes:4096,percent:60},{bytes:65536,percent:40}]} pattern=random read_percent=50 write_block_sizes={fixed:8192}
    note: rw=randrw: each offset is drawn independently, because the block sizes differ
    ");
    assert_snapshot!(job("rw=randread\nblockalign=512"), @"align_bytes=512 pattern=random");
    assert_snapshot!(job("rw=randread\nblockalign=4k"), @"pattern=shuffled");
    assert_snapshot!(job("rw=read\nblockalign=512"), @"as usual");
    assert_snapshot!(job("bs=8g\nsize=16g"), @"size_bytes=17179869184 [bs=8g: blocks of 4G or more]");
}

#[test]
fn paces() {
    assert_snapshot!(job("rate=4m"), @"pace={even:{iops:1024.0}}");
    assert_snapshot!(job("rate=4m\nbsrange=4k-8k"), @"block_sizes={range:{max:8192,min:4096}} [rate=4m: a rate in bytes per second combined with several block sizes]");
    assert_snapshot!(job("rate_iops=100\nnumjobs=3"), @"pace={even:{iops:300.0}} threads=3");
    assert_snapshot!(job("rate_iops=100\nrate_process=poisson\nbsrange=4k-8k"), @"block_sizes={range:{max:8192,min:4096}} pace={poisson:{iops:100.0}}");
    assert_snapshot!(job("rate_iops=100\nbsrange=4k-8k"), @"block_sizes={range:{max:8192,min:4096}} [rate_iops=100: a steady rate combined with several block sizes]");
    assert_snapshot!(job("rw=randrw\nrate_iops=100"), @"pace={even:{iops:200.0}} pattern=shuffled read_percent=50");
    assert_snapshot!(job("rw=randrw\nrate_iops=300,100"), @"
    pace={even:{iops:400.0}} pattern=shuffled read_percent=75
    note: rate_iops=300,100: the two rates determine the share of reads
    ");
    assert_snapshot!(job("rw=randrw\nrate_iops=300,0"), @"pattern=shuffled read_percent=50 [rate_iops=300,0: a rate for reads only or for writes only]");
    assert_snapshot!(job("rate_iops=100\nrate_iops_min=50"), @"
    pace={even:{iops:100.0}}
    note: rate_iops_min=50: iotax reports a rate that is not reached, but does not end the job
    ");
    assert_snapshot!(job("thinktime=200"), @"think={after_ios:1,time_ns:200000}");
    assert_snapshot!(job("thinktime=1ms\nthinktime_blocks=16"), @"think={after_ios:16,time_ns:1000000}");
    assert_snapshot!(job("thinktime=1ms\nthinktime_spin=10"), @"think={after_ios:1,time_ns:1000000} [thinktime_spin=10: busy-waits before it pauses]");
}

#[test]
fn syncs_caches_checks_and_cpus() {
    assert_snapshot!(job("invalidate=0"), @"invalidate=false");
    assert_snapshot!(job("direct=1"), @"direct=true invalidate=false");
    assert_snapshot!(job("pre_read=1"), @"invalidate=false pre_read=true");
    assert_snapshot!(job("fadvise_hint=0"), @"advise=false");
    assert_snapshot!(job("fadvise_hint=random"), @"[fadvise_hint=random: a cache hint that does not match the job's access pattern]");
    assert_snapshot!(job("rw=write\nsync=1\nfdatasync=8\nend_fsync=1"), @"end_fsync=true fsync_every=8 invalidate=false read_percent=0 write_through=true");
    assert_snapshot!(job("rw=write\nfsync=1"), @"
    fsync_every=1 invalidate=false read_percent=0
    note: fsync=1: iotax uses fdatasync
    ");
    assert_snapshot!(job("rw=write\nfsync=1\nfdatasync=2"), @"fsync_every=2 invalidate=false read_percent=0 [fsync=1: fsync together with fdatasync]");
    assert_snapshot!(job("rw=read\nsync=dsync\nfsync=1\nend_fsync=1"), @"as usual");
    assert_snapshot!(job("rw=randwrite\nverify=crc32c"), @"
    invalidate=false pattern=shuffled read_percent=0 verify=true
    note: verify=crc32c: iotax verifies the data with its own checksum, after the measured window
    ");
    assert_snapshot!(job("rw=randwrite\nverify=0"), @"invalidate=false pattern=shuffled read_percent=0");
    assert_snapshot!(job("rw=randwrite\nverify=crc32c\ndo_verify=0"), @"
    invalidate=false pattern=shuffled read_percent=0 verify_apart=true
    note: verify=crc32c: iotax writes its own checksums, which a later job in this file can verify
    ");
    assert_snapshot!(job("rw=randrw\nverify=crc32c\nverify_backlog=16\nverify_fatal=1"), @"
    pattern=shuffled read_percent=50 verify=true verify_ends=true verify_every=16
    note: verify=crc32c: iotax verifies all data with its own checksum, after the measured window
    ");
    assert_snapshot!(job("rw=write\nverify=crc32c\nverify_backlog=16\nverify_backlog_batch=4"), @"
    invalidate=false read_percent=0 verify=true verify_every=16 [verify_backlog_batch=4: verifies a different number of blocks at a time than the job writes between verifications]
    note: verify=crc32c: iotax verifies all data with its own checksum, after the measured window
    ");
    assert_snapshot!(job("rw=read\nverify=crc32c"), @"[verify=crc32c: verifies data that no other job of this file writes]");
    assert_snapshot!(job("cpus_allowed=0-2,5"), @"cpus=[0,1,2,5]");
    assert_snapshot!(job("numjobs=2\ncpus_allowed=0-1\ncpus_allowed_policy=split"), @"cpus=[0,1] threads=2 [cpus_allowed_policy=split: a separate CPU for each thread]");
    assert_snapshot!(job("mem=cudamalloc"), @"[mem=cudamalloc: moves data to a graphics card]");
    assert_snapshot!(job("exitall"), @"as usual");
}
