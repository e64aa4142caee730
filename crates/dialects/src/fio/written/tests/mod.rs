//! Sections of texts, and errors for texts without sections.

mod errors;
mod properties;
mod variables;

use insta::assert_snapshot;

use super::*;

fn no_files(_: &str) -> Result<String, String> {
    Err("no such file".to_owned())
}

/// Three files: `more.inc`, `dir/beside.inc`, and one that includes itself.
fn files(name: &str) -> Result<String, String> {
    match name {
        "more.inc" => Ok("# more\niodepth=4\n; end\ndirect=1\n".to_owned()),
        "dir/beside.inc" => Ok("bs=8k\n".to_owned()),
        "loop.inc" => Ok("include loop.inc\n".to_owned()),
        "section.inc" => Ok("[b]\n".to_owned()),
        "dir/job.fio" => Ok("[x]\ninclude beside.inc\n[y]\nrw=write\n".to_owned()),
        _ => Err("no such file".to_owned()),
    }
}

/// One line per section: its name and settings.
fn listed(sections: &[Section]) -> String {
    let settings = |section: &Section| {
        let all = section.settings.iter().map(|setting| match &setting.value {
            Some(value) => format!(" {}={value}", setting.name()),
            None => format!(" {}", setting.name()),
        });
        all.collect::<String>()
    };
    let lines: Vec<_> =
        sections.iter().map(|section| format!("{}:{}", section.name, settings(section))).collect();
    lines.join("\n")
}

fn job_file(text: &str) -> String {
    listed(&read_job_file("job.fio", text, &files).unwrap())
}

fn command(text: &str) -> String {
    listed(&read_command(text, &files).unwrap())
}

#[test]
fn global_settings_stand_in_front_of_those_of_later_jobs() {
    let text = "; a comment\n[global]\nbs=4k ; trailing\nrw=randread\n\n[a]\niodepth = 8\n[a]\n\
                [global]\n  direct=1\r\n[global2]\ntime_based\n[b] # last\nrw=write\n";
    assert_snapshot!(job_file(text), @r"
    a: bs=4k rw=randread iodepth= 8
    a: bs=4k rw=randread
    b: bs=4k rw=randread direct=1 time_based rw=write
    ");
}

#[test]
fn fio_takes_some_options_of_a_section_before_the_others() {
    let text = "[a]\nfilename=x\nbs=4k\nkb_base=1000\nrw=read\n[b]\nbs=4k\n";
    assert_snapshot!(job_file(text), @r"
    a: kb_base=1000 bs=4k rw=read filename=x
    b: bs=4k
    ");
    let sections = read_job_file("job.fio", text, &files).unwrap();
    assert_eq!(sections[0].settings[1].number().unwrap(), 4000);
    assert_eq!(sections[1].settings[0].number().unwrap(), 4096);
}

#[test]
fn options_of_engines_go_with_their_engine() {
    let text = "[global]\nuserspace_reap\nioengine=libaio\n[a]\n[b]\nioengine=mmap\nthp=1\n";
    assert_snapshot!(job_file(text), @r"
    a: ioengine=libaio userspace_reap
    b: ioengine=libaio ioengine=mmap thp=1
    ");
}

#[test]
fn included_lines_stand_where_they_are_included() {
    assert_snapshot!(job_file("[a]\nbs=4k\ninclude more.inc\nrw=read\n"), @"a: bs=4k iodepth=4 direct=1 rw=read");
    let beside = "[a]\ninclude beside.inc\n";
    assert_eq!(listed(&read_job_file("dir/job.fio", beside, &files).unwrap()), "a: bs=8k");
}

#[test]
fn fios_own_variables_are_left_as_they_are() {
    let text = "[a]\nfilename_format=$jobname.$jobnum.$filenum\n";
    assert_eq!(job_file(text), "a: filename_format=$jobname.$jobnum.$filenum");
    let text = "fio --name=a --filename_format=$jobname.'$jobnum'.\"$filenum\"";
    assert_eq!(command(text), "a: filename_format=$jobname.$jobnum.$filenum");
}

#[test]
fn places_name_file_and_line() {
    let text = "[a]\nbs=4k\ninclude more.inc\n";
    let sections = read_job_file("job.fio", text, &files).unwrap();
    let words: Vec<_> = sections[0].settings.iter().map(|s| s.place.words()).collect();
    assert_eq!(words, ["job.fio, line 2", "more.inc, line 2", "more.inc, line 4"]);
    assert_eq!(sections[0].place.words(), "job.fio, line 1");
}

#[test]
fn a_command_line_is_split_as_a_shell_does() {
    assert_snapshot!(command("fio --rw=randread --bs 4k --name=a --time_based --runtime=10 \\\n \
        --name 'the b' -direct=1 --description=\"a \\\"b\\\"\" --name=global --sync=1 --name=c"), @r#"
    a: rw=randread bs=4k time_based runtime=10
    the b: rw=randread bs=4k direct=1 description=a "b"
    c: rw=randread bs=4k sync=1
    "#);
    assert_snapshot!(command("$ sudo /usr/bin/fio --name=a --runt=3\n   --iodepth=4 # all\n"), @"a: runtime=3 iodepth=4");
    assert_eq!(
        command("fio --name=a --bs='(4*1024)' --norandommap=1 --"),
        "a: bs=(4*1024) norandommap=1"
    );
}

#[test]
fn options_of_the_program_are_set_aside() {
    let text = "fio --output-format=json -o out.json --minimal --name=a --eta=never --bs=4k";
    let sections = read_command(text, &no_files).unwrap();
    assert_eq!(listed(&sections), "a: bs=4k");
    let words: Vec<_> =
        sections[0].ignored.iter().map(|p| &p.place.text[p.place.span.clone()]).collect();
    assert_eq!(words, ["--output-format=json", "-o", "--minimal", "--eta=never"]);
}

#[test]
fn job_files_of_a_command_come_behind_its_own_jobs() {
    let text = "fio dir/job.fio --bs=1m --name=a dir/job.fio";
    assert_snapshot!(command(text), @r"
    a: bs=1m
    x: bs=1m bs=8k
    y: bs=1m rw=write
    x: stonewall bs=8k
    y: rw=write
    ");
    assert_eq!(command("fio --section=y dir/job.fio"), "y: rw=write");
}

#[test]
fn commands_start_when_a_shell_would_start_them() {
    let text = "sleep 9; fio --name=a & sleep 1.5; fio --name=b & sleep 1m\nfio --name=c &\nwait\n\
                fio --name=d && fio --name=e; fio --name=f & fio --name=g";
    let sections = read_command(text, &no_files).unwrap();
    let when: Vec<_> = sections
        .iter()
        .map(|s| (s.name.as_str(), s.phase, s.command, s.start_offset_ns / 1_000_000))
        .collect();
    let expected = [
        ("a", 0, 0, 0),
        ("b", 0, 1, 1500),
        ("c", 0, 2, 61_500),
        ("d", 1, 3, 0),
        ("e", 2, 4, 0),
        ("f", 3, 5, 0),
        ("g", 3, 6, 0),
    ];
    assert_eq!(when, expected);
}
