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
    assert_snapshot!("windows_several", all(&several, Tool::DiskSpd));
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
    assert_snapshot!("windows_refused", all(&refused, Tool::DiskSpd));
}
