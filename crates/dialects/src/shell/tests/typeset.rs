//! What a word processor makes of a command.

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
    assert_snapshot!(all(&texts, Tool::Fio), @r#"
    > fio –name=test –rw=randread –bs=4k –size=1G
    refused: `–` is an en dash (U+2013), where a hyphen is meant
      fio –name=test –rw=randread –bs=4k –size=1G
          ^ column 5
    a text editor or a web page has changed the command; write this instead:
    fio --name=test --rw=randread --bs=4k --size=1G
    > fio —name=a --rw=read
    refused: `—` is an em dash (U+2014), where a hyphen is meant
      fio —name=a --rw=read
          ^ column 5
    a text editor or a web page has changed the command; write this instead:
    fio --name=a --rw=read
    > fio -–name=a
    refused: `–` is an en dash (U+2013), where a hyphen is meant
      fio -–name=a
           ^ column 6
    a text editor or a web page has changed the command; write this instead:
    fio --name=a
    > fio --name=a --time‑based
    refused: `‑` is a non-breaking hyphen (U+2011), where a hyphen is meant
      fio --name=a --time‑based
                         ^ column 20
    a text editor or a web page has changed the command; write this instead:
    fio --name=a --time-based
    > fio --name=“a”
    refused: `“` is a typographic quote (U+201C), where a plain one is meant
      fio --name=“a”
                 ^ column 12
    a text editor or a web page has changed the command; write this instead:
    fio --name="a"
    > fio --name=‘a’ --rw=read
    refused: `‘` is a typographic quote (U+2018), where a plain one is meant
      fio --name=‘a’ --rw=read
                 ^ column 12
    a text editor or a web page has changed the command; write this instead:
    fio --name='a' --rw=read
    > fio --name=a --rw=read
    refused: this is a non-breaking space (U+00A0), where a blank is meant
      fio --name=a --rw=read
         ^ column 4
    a text editor or a web page has changed the command; write this instead:
    fio --name=a --rw=read
    > fio --name=a --rw=read
    refused: this is a non-breaking space (U+202F), where a blank is meant
      fio --name=a --rw=read
                  ^ column 13
    a text editor or a web page has changed the command; write this instead:
    fio --name=a --rw=read
    > fio --name=a …
    refused: `…` stands for a part of the command that is missing
      fio --name=a …
                   ^ column 14
    write the whole command
    > “C:\fio\fio.exe” --name=a
    refused: `“` is a typographic quote (U+201C), where a plain one is meant
      “C:\fio\fio.exe” --name=a
      ^ column 1
    a text editor or a web page has changed the command; write this instead:
    "C:\fio\fio.exe" --name=a
    > sudo –u root fio --name=a
    refused: `–` is an en dash (U+2013), where a hyphen is meant
      sudo –u root fio --name=a
           ^ column 6
    a text editor or a web page has changed the command; write this instead:
    sudo -u root fio --name=a
    > fio --na​me=a
    refused: here is a character without width (U+200B)
      fio --na​me=a
              ^ column 9
    a text editor or a web page has changed the command; write this instead:
    fio --name=a
    > fio --name＝a --rw=read
    refused: here is a wide equals sign (U+FF1D)
      fio --name＝a --rw=read
                ^ column 11
    a text editor or a web page has changed the command; write this instead:
    fio --name=a --rw=read
    > bash -c 'fio –name=a'
    refused: `–` is an en dash (U+2013), where a hyphen is meant
      bash -c 'fio –name=a'
                   ^ column 14
    a text editor or a web page has changed the command; write this instead:
    bash -c 'fio --name=a'
    > # fio −name=a
    refused: `−` is a minus sign (U+2212), where a hyphen is meant
      # fio −name=a
            ^ column 7
    a text editor or a web page has changed the command; write this instead:
    # fio --name=a
    > fio --name=a --rw=read　--bs=4k
    refused: this is a typographic space (U+3000), where a blank is meant
      fio --name=a --rw=read　--bs=4k
                            ^ column 23
    a text editor or a web page has changed the command; write this instead:
    fio --name=a --rw=read --bs=4k
    > fio --name=«a»
    refused: `«` is a guillemet (U+00AB), where a plain one is meant
      fio --name=«a»
                 ^ column 12
    a text editor or a web page has changed the command; write this instead:
    fio --name="a"
    "#);
    let spd = [
        "diskspd \u{2013}b8K \u{2013}d30 \u{2013}o4 \u{2013}t8 \u{2013}r \u{2013}w25 \u{2013}c20G F:\\iotest.dat",
        "diskspd -b8K -c1G \u{201c}F:\\my files\\x.dat\u{201d}",
        ".\\diskspd.exe\u{a0}\u{2014}b4K x",
    ];
    assert_snapshot!(all(&spd, Tool::DiskSpd), @r#"
    > diskspd –b8K –d30 –o4 –t8 –r –w25 –c20G F:\iotest.dat
    refused: `–` is an en dash (U+2013), where a hyphen is meant
      diskspd –b8K –d30 –o4 –t8 –r –w25 –c20G F:\iotest.dat
              ^ column 9
    a text editor or a web page has changed the command; write this instead:
    diskspd -b8K -d30 -o4 -t8 -r -w25 -c20G F:\iotest.dat
    > diskspd -b8K -c1G “F:\my files\x.dat”
    refused: `“` is a typographic quote (U+201C), where a plain one is meant
      diskspd -b8K -c1G “F:\my files\x.dat”
                        ^ column 19
    a text editor or a web page has changed the command; write this instead:
    diskspd -b8K -c1G "F:\my files\x.dat"
    > .\diskspd.exe —b4K x
    refused: this is a non-breaking space (U+00A0), where a blank is meant
      .\diskspd.exe —b4K x
                   ^ column 14
    a text editor or a web page has changed the command; write this instead:
    .\diskspd.exe -b4K x
    "#);
    // In quotes, in a comment, or in what is left out they change nothing.
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
