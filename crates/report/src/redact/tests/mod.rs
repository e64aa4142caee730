//! Nothing that is not on the list leaves, wherever in a record it stands.

mod full;
mod machine;
mod secrets;

use iotax_record::{OtherPrograms, ProgramUse};

use super::*;

fn told(text: &str) -> String {
    Names::default().text(Kind::Word, text)
}

#[test]
fn words_of_the_list_and_numbers_stay() {
    for kept in [
        "an anonymous file in /var/tmp",
        "cannot bypass the page cache: reads at the bottom of the stack may come from memory",
        "I/O error on nvme0n1p2 (os error 5), 4 KiB at 12.5 %",
        "rw,noatime,vers=4.1,rsize=1048576,wsize=262144,sec=krb5p,nconnect=16",
        "8:16 0 48 J 6 interleave_sectors:32768 buffer_sectors:128 internal_hash:crc32c",
        "capi:authenc(hmac(sha256),xts(aes))-random",
        "file(size=2G) + throttle(iops=4000, bw=32M) + qemu-luks + ext4",
        "/sys/fs/cgroup/system.slice/io.max",
        "aes + aes#2",
        "iotax compare --set size=4M --max-blocks 2 base=/mnt/a --vm Standard_DS1_v2",
        "",
    ] {
        assert_eq!(told(kept), kept);
    }
}

#[test]
fn everything_else_gets_a_pseudonym_of_its_kind() {
    insta::assert_snapshot!(told("nfs from filer7:/export/acme, mounted at /mnt/acme"), @"nfs from host-1:/export/path-1, mounted at /mnt/path-1");
    insta::assert_snapshot!(told(r"\\filer7\geheim$ and //filer7/x"), @r"\\host-1\path-1 and //host-1/x");
    insta::assert_snapshot!(told("addr=10.0.0.1,username=root,password=1234,uid=1000"), @"addr=host-1,username=root,word-1=word-2,uid=user-1");
    insta::assert_snapshot!(told("/dev/mapper/vg-acme /dev/disk/by-id/ata-S4E /home/eve/x"), @"/dev/mapper/device-1 /dev/disk/by-id/device-2 /home/user-1/x");
    insta::assert_snapshot!(told("https://eve@files.example/s3?sig=x#y jdoe@db7"), @"https://user-1@host-1/path-1=word-1 user-2@host-2");
    insta::assert_snapshot!(told("10.1.2.3 fd00::1 52:54:00:11:22:33 123456 1234-5678 db7:5432"), @"word-1 word-2 word-3 word-4 word-5:5432");
    insta::assert_snapshot!(told("name=48213377,seed=48213377,data:48213377"), @"name=word-1,seed=48213377,word-2");
    insta::assert_snapshot!(told("host-1 is not path-3"), @"word-1 is not word-2");
}

#[test]
fn numbers_in_groups_get_one_pseudonym() {
    insta::assert_snapshot!(told("card 4111 1111 1111 1111, size 4096, depth 32"), @"card word-1, size 4096, depth 32");
    insta::assert_snapshot!(told("from 10,47,113,9 cpus 0,1,2,3,4,5,6,7"), @"from word-1 cpus 0,1,2,3,4,5,6,7");
    let mut names = Names::default();
    assert_eq!(names.value_of_fio("description", "10,47,113,9"), "word-1");
    assert_eq!(names.value_of_fio("cpus_allowed", "8,9,10,11"), "8,9,10,11");
}

#[test]
fn options_of_fio_keep_numbers_and_words_of_fio() {
    let mut names = Names::default();
    for (option, value) in [
        ("bssplit", "4k/10:64k/90"),
        ("random_distribution", "zipf:1.2"),
        ("zonemode", "strided"),
        ("ioengine", "libaio"),
        ("io_size", "107374182400"),
        ("cpus_allowed", "0-3,8"),
        ("percentage_random", "100,50"),
    ] {
        assert_eq!(names.value_of_fio(option, value), value, "{option}");
    }
    let free = [("description", "48213377"), ("filename", "/srv/acme"), ("acme", "1")];
    let said = free.map(|(option, value)| names.value_of_fio(option, value));
    assert_eq!(said, ["word-1", "word-2", "word-3"]);
}

#[test]
fn kernels_and_models_are_told_by_their_family() {
    let mut names = Names::default();
    let kernels = [
        "Linux 6.8.0-45-generic #1 SMP PREEMPT_DYNAMIC",
        "6.1.0-18-cloud-amd64",
        "Linux 5.14.0-427.13.1.el9_4.x86_64 #1 SMP",
        "Linux 6.6.1-acme-trading #7 SMP",
        "Linux 6.1 (builder@pluto17)",
        "10.1.2.3",
        "5.10.2.3",
    ];
    let said = kernels.map(|text| models::kernel(&mut names, text)).join("\n");
    insta::assert_snapshot!(said, @"
    Linux 6.8.0-45-generic #1 SMP PREEMPT_DYNAMIC
    6.1.0-18-cloud-amd64
    Linux 5.14.0-427.13.1.el9_4.x86_64 #1 SMP
    Linux 6.6.1
    Linux 6.1
    word-1
    word-2
    ");
    let devices = [
        "SAMSUNG MZQL2960HCJR-00A07",
        "Amazon Elastic Block Store",
        "ATA Samsung SSD 870",
        "Msft Virtual Disk",
        "nvme_card-pd",
        "0x1af4",
        "LIO-ORG acme-orders",
        "Samsung S4EVNX0R812345",
    ];
    let said = devices.map(|text| models::device(&mut names, text)).join("\n");
    insta::assert_snapshot!(said, @"
    SAMSUNG MZQL2960HCJR-00A07
    Amazon Elastic Block Store
    ATA Samsung SSD 870
    Msft Virtual Disk
    nvme_card-pd
    0x1af4
    model-1
    Samsung model-2
    ");
    for kept in [
        "Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz",
        "AMD EPYC 7763 64-Core Processor",
        "Neoverse-N1",
    ] {
        assert_eq!(models::processor(&mut names, kept), kept);
    }
}

#[test]
fn a_word_has_one_pseudonym_and_the_key_knows_it() {
    let mut experiment = full::experiment();
    experiment.hosts[0].environment.host = Some("pluto17".into());
    experiment.command = vec!["on pluto17".into(), "/mnt/pluto17/x".into()];
    let mut redactor = Redactor::default();
    let clean = redactor.experiment(&experiment);
    assert_eq!(clean.hosts[0].environment.host.as_deref(), Some("host-1"));
    assert_eq!(clean.command, ["on host-1", "/mnt/host-1/x"]);
    assert_eq!(redactor.key()["host-1"], "pluto17");
}

#[test]
fn a_path_with_blanks_is_one_thing_wherever_it_stands_alone() {
    let mut experiment = full::experiment();
    let path = "/mnt/Quarterly Figures (Zebra)/x";
    experiment.spec = experiment.spec.with(|spec| spec.arms[0].target = Target::Path(path.into()));
    experiment.spec = experiment.spec.with(|spec| spec.arms[0].name = path.to_owned());
    experiment.sites[0].target = path.to_owned();
    let clean = Redactor::default().experiment(&experiment);
    let arm = &clean.spec.arms[0];
    assert_eq!(arm.target, Target::Path("/mnt/path-1/x".into()));
    assert_eq!((&*arm.name, &*clean.sites[0].target), ("/mnt/path-1/x", "/mnt/path-1/x"));
}

#[test]
fn a_machine_says_the_same_with_pseudonyms() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../diagnose/tests/machines");
    let mut read = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let machine = Machine::read(&path).unwrap();
        let clean = Redactor::default().machine(&machine);
        let causes = |machine: &Machine| -> Vec<_> {
            let found =
                iotax_diagnose::findings(machine, &iotax_experiment::CloudChoice::default());
            found.iter().map(|finding| (finding.cause, finding.certainty)).collect()
        };
        assert_eq!(causes(&clean), causes(&machine), "{}", path.display());
        read += 1;
    }
    assert!(read > 10, "{read} machines");
}

#[test]
fn other_programs_have_pseudonyms() {
    let program = |name: &str| ProgramUse { name: name.to_owned(), ..ProgramUse::default() };
    let largest = vec![program("acme-billing"), program("acme ledger"), program("acme-billing")];
    let end = End {
        reasons: Vec::new(),
        wall_ns: 1,
        interrupted: false,
        gave_up: false,
        trials: None,
        other_programs: Some(OtherPrograms { largest, ..OtherPrograms::default() }),
    };
    let told = Redactor::default().end(&end).other_programs.unwrap().largest;
    let names: Vec<&str> = told.iter().map(|program| program.name.as_str()).collect();
    assert!(
        names.iter().all(|name| !name.contains("acme") && !name.contains("ledger")),
        "{names:?}"
    );
    assert_eq!(names[0], names[2], "the same for the same");
    assert_ne!(names[0], names[1]);
}
