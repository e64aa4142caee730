//! Every error message of the reader, with its position.

use insta::assert_snapshot;

use super::error;

/// The error messages for all of these texts, which are separated by `/`.
fn all(texts: &str, around: impl Fn(&str) -> String) -> String {
    let errors: Vec<_> = texts.split(" / ").map(|text| error(&around(text))).collect();
    errors.join("\n\n")
}

#[test]
fn flags_that_cannot_be_had_are_named() {
    let texts = "-Xrun.xml / -ePROCESS / -ysstart / -Nv / -? / -p / -I1 / -ag1,0 / -Rptext / -q / -Q5 / -Lx / -fx / -r -fs / -F2 -O4";
    assert_snapshot!(all(texts, |flag| format!("diskspd {flag} -c1G io.dat b")), @"
    -Xrun.xml: iotax cannot run XML profiles
      diskspd -Xrun.xml -c1G io.dat b
              ^^^^^^^^^ column 9
    specify the profile's values as flags; iotax compare reads XML results directly

    -ePROCESS: Windows event tracing is not available here
      diskspd -ePROCESS -c1G io.dat b
              ^^^^^^^^^ column 9
    leave it out

    -ysstart: Windows events are not available here
      diskspd -ysstart -c1G io.dat b
              ^^^^^^^^ column 9
    leave out -y; all jobs start together

    -Nv: iotax cannot flush a memory-mapped view after each write
      diskspd -Nv -c1G io.dat b
              ^^^ column 9
    leave it out

    -?: this prints DiskSpd's help
      diskspd -? -c1G io.dat b
              ^^ column 9
    see `iotax run --help`

    -p: parallel sequential I/Os at the same offset are not supported
      diskspd -p -c1G io.dat b
              ^^ column 9
    leave it out

    -I1: iotax supports only the normal I/O priority
      diskspd -I1 -c1G io.dat b
              ^^^ column 9
    leave out -I, or use -I3 (normal)

    -ag1,0: Linux has no processor groups
      diskspd -ag1,0 -c1G io.dat b
              ^^^^^^ column 9
    number the CPUs of all groups consecutively, as in -a0,1,64,65

    -Rptext: this prints a profile and runs nothing
      diskspd -Rptext -c1G io.dat b
              ^^^^^^^ column 9
    use `iotax plan` to see what would run

    DiskSpd 2.2 has no flag `-q`
      diskspd -q -c1G io.dat b
              ^^ column 9
    put each value directly after its flag, as in -b64K -o32 -rs50

    DiskSpd 2.2 has no flag `-Q5`
      diskspd -Q5 -c1G io.dat b
              ^^^ column 9
    put each value directly after its flag, as in -b64K -o32 -rs50

    DiskSpd 2.2 has no flag `-Lx`
      diskspd -Lx -c1G io.dat b
              ^^^ column 9
    put each value directly after its flag, as in -b64K -o32 -rs50

    -fx is not a valid hint
      diskspd -fx -c1G io.dat b
              ^^^ column 9
    use -f1G for a size, or -fr, -fs or -ft for a hint

    this hint contradicts the order of the offsets
      diskspd -r -fs -c1G io.dat b
                 ^^^ column 12
    use a hint that matches the order of the offsets

    -O: one queue for several targets is not supported
      diskspd -F2 -O4 -c1G io.dat b
                  ^^^ column 13
    use -o for a queue per target
    ");
}

#[test]
fn threads_queues_and_orders_conflict_as_in_diskspd() {
    let texts = "-F2 -t2 / -O4 / -F2 -o2 -O4 / -F2 -O4 -g5 / -F2 -O4 -i1 -j1 / -F2 -O2 -p / -r -T4K -t2 / -r -si / -r -p / -si -T4K -t2 / -si -p / -si -rs0 / -T4K / -t2 -T100 -Sh / -rdpct90/10";
    assert_snapshot!(all(texts, |flag| format!("diskspd {flag} -c1G io.dat")), @"
    -t and -F are mutually exclusive
      diskspd -F2 -t2 -c1G io.dat
                  ^^^ column 13
    keep -t for threads per target, or -F for the total number of threads

    -O requires -F
      diskspd -O4 -c1G io.dat
              ^^^ column 9
    use -o for I/Os per thread and target, or add -F

    -o and -O are mutually exclusive
      diskspd -F2 -o2 -O4 -c1G io.dat
                      ^^^ column 17
    keep -o for I/Os per target, or -O for I/Os per thread

    -g and -O are mutually exclusive
      diskspd -F2 -O4 -g5 -c1G io.dat
                      ^^^ column 17
    use -o instead of -O

    -j and -O are mutually exclusive
      diskspd -F2 -O4 -i1 -j1 -c1G io.dat
                          ^^^ column 21
    use -o instead of -O

    -p and -O are mutually exclusive
      diskspd -F2 -O2 -p -c1G io.dat
                      ^^ column 17
    use -o instead of -O

    -T has no effect with random offsets
      diskspd -r -T4K -t2 -c1G io.dat
                 ^^^^ column 12
    leave out one of them

    -si has no effect with random offsets
      diskspd -r -si -c1G io.dat
                 ^^^ column 12
    leave out one of them

    -p has no effect with random offsets
      diskspd -r -p -c1G io.dat
                 ^^ column 12
    leave out one of them

    -si and -T are mutually exclusive
      diskspd -si -T4K -t2 -c1G io.dat
              ^^^ column 9
    keep -si for an offset that all threads share, or -T for one offset per thread

    -si and -p are mutually exclusive
      diskspd -si -p -c1G io.dat
              ^^^ column 9
    keep one of them

    -si and -rs are mutually exclusive
      diskspd -si -rs0 -c1G io.dat
              ^^^ column 9
    keep one of them

    -T has no effect unless several threads use a target
      diskspd -T4K -c1G io.dat
              ^^^^ column 9
    leave out -T, or add -t

    -T: threads that bypass the cache must start at multiples of 512 bytes
      diskspd -t2 -T100 -Sh -c1G io.dat
                  ^^^^^ column 13
    specify a multiple of 512, as in -T4K

    -rd has no effect with sequential offsets
      diskspd -rdpct90/10 -c1G io.dat
              ^^^^^^^^^^^ column 9
    add -r
    ");
}

#[test]
fn ranges_caches_and_rates_conflict_as_in_diskspd() {
    let texts = "-f1G -B0:1M / -f1G -B2G / -Smu / -Sm -x / -Sbu / -Sh -Sw / -h -Su / -Sz / -g5 -x / -i5 / -j5 / -n -a0 / -Z4K";
    assert_snapshot!(all(texts, |flag| format!("diskspd {flag} -c1G io.dat")), @"
    -f and a length in -B both set the end of the range
      diskspd -f1G -B0:1M -c1G io.dat
                   ^^^^^^ column 14
    keep one of them

    the end set by -f is before the start set by -B
      diskspd -f1G -B2G -c1G io.dat
              ^^^^ column 9
    use a larger -f

    a mapping (-Sm) uses the page cache and cannot bypass it
      diskspd -Smu -c1G io.dat
              ^^^^ column 9
    keep only -Sm, or only -Su or -Sh

    -x and -Sm are mutually exclusive
      diskspd -Sm -x -c1G io.dat
                  ^^ column 13
    keep one of them

    -Sbu: the caching mode is given twice
      diskspd -Sbu -c1G io.dat
              ^^^^ column 9
    use -Sb (cached), -Su (O_DIRECT), -Sw (write through), -Sh (both), -Sm (mapped) or -Sr (no local cache)

    -Sw: the caching mode is given twice
      diskspd -Sh -Sw -c1G io.dat
                  ^^^ column 13
    use -Sb (cached), -Su (O_DIRECT), -Sw (write through), -Sh (both), -Sm (mapped) or -Sr (no local cache)

    -Su: the caching mode is given twice
      diskspd -h -Su -c1G io.dat
                 ^^^ column 12
    use -Sb (cached), -Su (O_DIRECT), -Sw (write through), -Sh (both), -Sm (mapped) or -Sr (no local cache)

    -Sz: -S has no flag `z`
      diskspd -Sz -c1G io.dat
              ^^^ column 9
    use -Sb (cached), -Su (O_DIRECT), -Sw (write through), -Sh (both), -Sm (mapped) or -Sr (no local cache)

    -g and -x are mutually exclusive
      diskspd -g5 -x -c1G io.dat
              ^^^ column 9
    leave out -x

    -i without -j never pauses
      diskspd -i5 -c1G io.dat
              ^^^ column 9
    add -j, the pause in ms

    -j without -i never pauses
      diskspd -j5 -c1G io.dat
              ^^^ column 9
    add -i, the I/Os per burst

    -n and -a are mutually exclusive
      diskspd -n -a0 -c1G io.dat
              ^^ column 9
    keep one of them

    the write buffer set by -Z is smaller than a block
      diskspd -Z4K -c1G io.dat
              ^^^^ column 9
    use a larger -Z
    ");
}

#[test]
fn values_are_named_where_they_are_wrong() {
    let texts = "diskspd -b 64K a / diskspd -b0 a / diskspd -b64X a / diskspd -b8G a / diskspd -cK a / diskspd -c99999999T a / diskspd -d0 a / diskspd -o1x a / diskspd -w101 a / diskspd -r0 a / diskspd -s0 a / diskspd -o99999999999 a";
    assert_snapshot!(all(texts, str::to_owned), @"
    -b has no value
      diskspd -b 64K a
              ^^ column 9
    put the value directly after the flag, without a space, as in -b64K

    `0` is not a size: an I/O of 0 bytes does nothing
      diskspd -b0 a
              ^^^ column 9
    specify a size as in DiskSpd: 4096, 4K, 64M, 2G, 1T (powers of 1024), or 8b for 8 blocks

    `64X` is not a size: the unit must be K, M, G, T or b
      diskspd -b64X a
              ^^^^^ column 9
    specify a size as in DiskSpd: 4096, 4K, 64M, 2G, 1T (powers of 1024), or 8b for 8 blocks

    `8G` is not a size: it is too large for one I/O; the limit is 4G - 1
      diskspd -b8G a
              ^^^^ column 9

    `K` is not a size: it is not a whole number
      diskspd -cK a
              ^^^ column 9
    specify a size as in DiskSpd: 4096, 4K, 64M, 2G, 1T (powers of 1024), or 8b for 8 blocks

    `99999999T` is not a size: it must be below 16 EiB
      diskspd -c99999999T a
              ^^^^^^^^^^^ column 9
    specify a size as in DiskSpd: 4096, 4K, 64M, 2G, 1T (powers of 1024), or 8b for 8 blocks

    `0` is not a whole number: it must be at least 1
      diskspd -d0 a
              ^^^ column 9
    use only digits, directly after the flag

    `1x` is not a whole number: it must consist of digits
      diskspd -o1x a
              ^^^^ column 9
    use only digits, directly after the flag

    `101` is not a percentage: it is above 100
      diskspd -w101 a
              ^^^^^ column 9
    specify 0 to 100

    the alignment is 0 bytes
      diskspd -r0 a
              ^^^ column 9
    specify a size, as in -r4K

    the stride is 0 bytes
      diskspd -s0 a
              ^^^ column 9
    specify a size, as in -s64K

    `99999999999` is not a whole number: it is too large
      diskspd -o99999999999 a
              ^^^^^^^^^^^^^ column 9
    use only digits, directly after the flag
    ");
}

#[test]
fn structure_is_named_where_it_is_wrong() {
    let texts = " / diskspd / diskspd -c1G / format e: & diskspd -c1G a / diskspd -c1G a || diskspd b / diskspd -c1G a -t2 / diskspd \"a / diskspd a | diskspd b / diskspd -c1G %T%";
    assert_snapshot!(all(texts, str::to_owned), @r#"
    there is no command
    write a command such as diskspd -b4K -r -o32 -d10 -Sh -c1G io.dat

    the command has neither flags nor a target
      diskspd
      ^^^^^^^ column 1
    write a command such as diskspd -b4K -r -o32 -d10 -Sh -c1G io.dat

    the command has no target
      diskspd -c1G
              ^^^^ column 9
    end the command with a file, as in diskspd -c1G io.dat

    `format` changes the machine, so iotax does not run it
      format e: & diskspd -c1G a
      ^^^^^^ column 1
    leave out this command, or run it yourself first if the test needs it

    this runs only if the command before it fails
      diskspd -c1G a || diskspd b
                        ^^^^^^^ column 19
    leave it out, or join the commands with `;`

    -t2 comes after the target a
      diskspd -c1G a -t2
                     ^^^ column 16
    put all flags before the targets

    this quote is not closed
      diskspd "a
              ^^ column 9
    add the same quote after the value

    this diskspd reads the output of another command
      diskspd a | diskspd b
                  ^^^^^^^ column 13
    join the commands with `;` or `&`

    `%T%` is a shell variable whose value iotax does not know
      diskspd -c1G %T%
                   ^^^ column 14
    replace the variable with its value, or put it in single quotes if it is meant for fio
    "#);
}
