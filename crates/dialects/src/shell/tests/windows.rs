//! DiskSpd, and the shells of Windows.

use insta::assert_snapshot;

use super::*;

#[test]
fn what_stands_around_diskspd_is_left_out() {
    let texts = [
        "\"C:\\Program Files\\diskspd\\diskspd.exe\" -b4K -c1G D:\\x.dat",
        "& \"C:\\Program Files\\diskspd\\diskspd.exe\" -b4K -c1G D:\\x.dat",
        "& 'C:\\tools\\diskspd.exe' -b4K -c1G D:\\x.dat | Out-File r.txt",
        "PS C:\\> .\\diskspd.exe -b4K -c1G D:\\x.dat",
        "PS C:\\Users\\me\\Downloads\\DiskSpd\\amd64> .\\diskspd.exe -b4K -c1G D:\\x.dat",
        "C:\\tools>diskspd.exe -b4K -c1G D:\\x.dat > out.txt",
        "cmd /c diskspd -b4K -c1G D:\\x.dat",
        "cmd.exe /c \"diskspd -b4K -c1G D:\\x.dat\"",
        "cmd /c \"\"C:\\Program Files\\diskspd.exe\" -b4K -c1G D:\\x.dat\"",
        "powershell -Command \"diskspd -b4K -c1G D:\\x.dat\"",
        "powershell.exe -NoProfile -ExecutionPolicy Bypass -Command \"& 'C:\\a b\\diskspd.exe' -b4K -c1G D:\\x.dat\"",
        "start /wait diskspd -b4K -c1G D:\\x.dat",
        "start \"\" /b \"C:\\a b\\diskspd.exe\" -b4K -c1G D:\\x.dat",
        "call diskspd -b4K -c1G D:\\x.dat",
        "%~dp0diskspd.exe -b4K -c1G D:\\x.dat",
        "%~dp0\\amd64\\diskspd.exe -b4K -c1G D:\\x.dat",
        "@diskspd -b4K -c1G D:\\x.dat",
        "diskspd -b4K ^\r\n  -c1G ^\r\n  D:\\x.dat",
        "diskspd -b4K `\r\n  -c1G `\r\n  D:\\x.dat",
        "sudo ./diskspd -b4K -c1G D:\\x.dat",
        "diskspd -b4K -c1G D:\\x.dat 2>&1 | Tee-Object -FilePath r.txt",
        "diskspd -b4K -c1G D:\\x.dat & del D:\\x.dat",
        "diskspd -b4K -c1G D:\\x.dat && echo done",
        "cd C:\\diskspd\r\ndiskspd -b4K -c1G D:\\x.dat",
        "@echo off\r\nsetlocal\r\ntitle test\r\ndiskspd -b4K -c1G D:\\x.dat\r\npause\r\n",
        "Write-Host \"start $(Get-Date)\"; diskspd -b4K -c1G D:\\x.dat",
        "# a comment\ndiskspd -b4K -c1G D:\\x.dat",
        "mkdir D:\\diskspd; diskspd -b4K -c1G D:\\x.dat",
        "DiskSpd.exe -b4K -c1G D:\\x.dat | findstr total",
        "diskspd -b4K -c1G \\\n  D:\\x.dat",
    ];
    same(&texts, Tool::DiskSpd, "-b4K -c1G D:\\x.dat");
    same(
        &["diskspd -b4K -c1G \\\\srv\\c$\\x.dat", "diskspd -b4K -c1G '\\\\srv\\c$\\x.dat'"],
        Tool::DiskSpd,
        "-b4K -c1G \\\\srv\\c$\\x.dat",
    );
    same(&["diskspd -b4K -c1G #1"], Tool::DiskSpd, "-b4K -c1G #1");
    let several = [
        "diskspd -c1G a\ndiskspd -c1G b",
        "diskspd -c1G a & diskspd -c1G b",
        "C:\\>diskspd -c1G a & diskspd -c1G b",
        "diskspd -c1G a && diskspd -c1G b",
        "diskspd -c1G a; diskspd -c1G b",
        "start diskspd -c1G a\nstart diskspd -c1G b",
        "@echo off\ndiskspd -c1G a & diskspd -c1G b",
        "diskspd -c1G a &\nStart-Sleep -Seconds 5\ndiskspd -c1G b",
    ];
    assert_snapshot!(all(&several, Tool::DiskSpd), @r"
    > diskspd -c1G a
    diskspd -c1G b
    [0+0] -c1G a
    [1+0] -c1G b
    > diskspd -c1G a & diskspd -c1G b
    [0+0] -c1G a
    [0+0] -c1G b
    > C:\>diskspd -c1G a & diskspd -c1G b
    [0+0] -c1G a
    [1+0] -c1G b
    > diskspd -c1G a && diskspd -c1G b
    [0+0] -c1G a
    [1+0] -c1G b
    > diskspd -c1G a; diskspd -c1G b
    [0+0] -c1G a
    [1+0] -c1G b
    > start diskspd -c1G a
    start diskspd -c1G b
    [0+0] -c1G a
    [0+0] -c1G b
    > @echo off
    diskspd -c1G a & diskspd -c1G b
    [0+0] -c1G a
    [1+0] -c1G b
      @echo off: iotax reports in its own way
    > diskspd -c1G a &
    Start-Sleep -Seconds 5
    diskspd -c1G b
    [0+0] -c1G a
    [0+5] -c1G b
    ");
    let refused = [
        "diskspd -c1G %TARGET%",
        "diskspd -c1G $target",
        "foreach ($i in 1..3) { diskspd -c1G a }",
        "for %%i in (1 2) do diskspd -c1G a",
        "psexec \\\\host diskspd -c1G a",
        "Invoke-Command -ComputerName h -ScriptBlock { diskspd -c1G a }",
        "format e: /q & diskspd -c1G a",
        "Measure-Command { diskspd -c1G a }",
    ];
    for text in refused {
        assert!(read_as(text, Tool::DiskSpd).starts_with("refused:"), "{text}");
    }
    assert_snapshot!(all(&refused, Tool::DiskSpd), @r"
    > diskspd -c1G %TARGET%
    refused: `%TARGET%` is a variable of the shell, which is not known here
      diskspd -c1G %TARGET%
                   ^^^^^^^^ column 14
    write its value, or put it in single quotes if it is meant for fio
    > diskspd -c1G $target
    refused: `$target` is a variable of the shell, which is not known here
      diskspd -c1G $target
                   ^^^^^^^ column 14
    write its value, or put it in single quotes if it is meant for fio
    > foreach ($i in 1..3) { diskspd -c1G a }
    refused: `foreach` runs diskspd several times, and iotax does not
      foreach ($i in 1..3) { diskspd -c1G a }
      ^^^^^^^ column 1
    paste the diskspd command alone; iotax repeats trials itself (-n), and varies options with --matrix
    > for %%i in (1 2) do diskspd -c1G a
    refused: `for` runs diskspd several times, and iotax does not
      for %%i in (1 2) do diskspd -c1G a
      ^^^ column 1
    paste the diskspd command alone; iotax repeats trials itself (-n), and varies options with --matrix
    > psexec \\host diskspd -c1G a
    refused: `psexec` runs diskspd on another machine, and iotax does not
      psexec \\host diskspd -c1G a
      ^^^^^^ column 1
    start iotax on that machine, or have an agent there measure (--agent 'ssh HOST iotax agent'); or begin at `diskspd -c1G a` to run it here
    > Invoke-Command -ComputerName h -ScriptBlock { diskspd -c1G a }
    refused: `invoke-command` runs diskspd on another machine, and iotax does not
      Invoke-Command -ComputerName h -ScriptBlock { diskspd -c1G a }
      ^^^^^^^^^^^^^^ column 1
    start iotax on that machine, or have an agent there measure (--agent 'ssh HOST iotax agent'); or begin at `diskspd -c1G a }` to run it here
    > format e: /q & diskspd -c1G a
    refused: `format` changes the machine, and iotax does not run it
      format e: /q & diskspd -c1G a
      ^^^^^^ column 1
    leave it out; run it yourself before, if the test needs it
    > Measure-Command { diskspd -c1G a }
    refused: `measure-command` is for a shell, and no shell reads this
      Measure-Command { diskspd -c1G a }
      ^^^^^^^^^^^^^^^ column 1
    paste the diskspd command alone
    ");
}
