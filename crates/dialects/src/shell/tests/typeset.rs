//! Commands changed by a word processor.

use insta::assert_snapshot;

use super::*;

#[test]
fn what_a_word_processor_has_changed_is_refused_by_name() {
    let texts = [
        "fio \u{2013}name=test \u{2013}rw=randread \u{2013}bs=4k \u{2013}size=1G",
        "fio \u{2014}name=a --rw=read",
        "fio -\u{2013}name=a",
        "fio --name=a --time\u{2011}based",
        "fio --name=\u{201c}a\u{201d}",
        "fio --name=\u{2018}a\u{2019} --rw=read",
        "fio\u{a0}--name=a --rw=read",
        "fio --name=a\u{202f}--rw=read",
        "fio --name=a \u{2026}",
        "\u{201c}C:\\fio\\fio.exe\u{201d} --name=a",
        "sudo \u{2013}u root fio --name=a",
        "fio --na\u{200b}me=a",
        "fio --name\u{ff1d}a --rw=read",
        "bash -c 'fio \u{2013}name=a'",
        "# fio \u{2212}name=a",
        "fio --name=a --rw=read\u{3000}--bs=4k",
        "fio --name=\u{ab}a\u{bb}",
    ];
    for text in texts {
        assert!(read_as(text, Tool::Fio).starts_with("refused:"), "{text}");
    }
    assert_snapshot!("typeset_fio", all(&texts, Tool::Fio));
    let spd = [
        "diskspd \u{2013}b8K \u{2013}d30 \u{2013}o4 \u{2013}t8 \u{2013}r \u{2013}w25 \u{2013}c20G F:\\iotest.dat",
        "diskspd -b8K -c1G \u{201c}F:\\my files\\x.dat\u{201d}",
        ".\\diskspd.exe\u{a0}\u{2014}b4K x",
    ];
    assert_snapshot!("typeset_diskspd", all(&spd, Tool::DiskSpd));
    // In quotes, in a comment, or in a part that is left out, they change nothing.
    same(
        &[
            "fio --name=a --description='it\u{2019}s \u{2013} x' # \u{2013}",
            "echo \u{201c}x\u{201d}; fio --name=a --description='it\u{2019}s \u{2013} x'",
        ],
        Tool::Fio,
        "--name=a --description=it\u{2019}s \u{2013} x",
    );
    same(
        &["fio --name=a --directory=/mnt/B\u{fc}ro\u{2013}1"],
        Tool::Fio,
        "--name=a --directory=/mnt/B\u{fc}ro\u{2013}1",
    );
}
