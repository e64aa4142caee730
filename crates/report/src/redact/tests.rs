use super::*;

fn clean(text: &str) -> String {
    Redactor::default().text(text)
}

#[test]
fn addresses_are_replaced_and_loopback_is_kept() {
    assert_eq!(clean("10.1.2.3 and 10.1.2.4, 10.1.2.3:2049"), "ip-1 and ip-2, ip-1:2049");
    assert_eq!(clean("fd00:1::7, [fe80::1]:/x, addr:2001:db8::1."), "ip-1, [ip-2]:/x, addr:ip-3.");
    assert_eq!(clean("52:54:00:ab:cd:ef and 52-54-00-AB-CD-EF"), "mac-1 and mac-2");
    for kept in ["127.0.0.1 ::1", "12:30:59", "std::fmt", "1.2.3", "4k/60:64k/40", "999.1.1.1"] {
        assert_eq!(clean(kept), kept);
    }
}

#[test]
fn ids_of_clouds_are_replaced() {
    let azure = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/prod-rg/\
                 providers/Microsoft.Compute/disks/data01";
    let said = clean(azure);
    assert_eq!(
        said,
        "/subscriptions/id-1/resourceGroups/id-2/providers/Microsoft.Compute/disks/id-3"
    );
    assert_eq!(clean("i-0abc1234def567890 on vol-0123456789abcdef0"), "id-1 on id-2");
    assert_eq!(
        clean("nvme-Amazon_Elastic_Block_Store_vol0123456789abcdef0"),
        "nvme-Amazon_Elastic_Block_Store_id-1"
    );
    assert_eq!(clean("arn:aws:ec2:eu-west-1:123456789012:volume/vol-1, x"), "id-1, x");
    assert_eq!(clean("projects/acme-prod/zones/a/disks/d1"), "projects/id-1/zones/a/disks/id-2");
    assert_eq!(clean("/dev/disk/by-id/ata-X_S4EVNX0 x"), "/dev/disk/by-id/id-1 x");
    assert_eq!(clean("UUID=0a1b2c3d-0000-1111-2222-333344445555"), "UUID=uuid-1");
}

#[test]
fn servers_and_people_are_replaced() {
    assert_eq!(
        clean("nfs from filer7:/export/a and filer7:/b"),
        "nfs from host-1:/export/a and host-1:/b"
    );
    assert_eq!(clean("//cifs1/share"), "//host-1/share");
    assert_eq!(clean("nfs(server=filer7, path=/x)"), "nfs(server=host-1, path=/x)");
    assert_eq!(clean("built by buildd@lcy02-amd64-116"), "built by user-1@host-1");
    assert_eq!(clean("db1.prod.internal, s3.eu.example.com, a.b.de"), "host-1, host-2, host-3");
    assert_eq!(clean("/home/alice/x /Users/Bob/y"), "/home/user-1/x /Users/user-2/y");
    for kept in ["results.tar.gz", "https:", "job.fio", "6.1.0-18-cloud-amd64", "/mnt/data"] {
        assert_eq!(clean(kept), kept);
    }
}

#[test]
fn known_names_are_found_anywhere_and_only_as_whole_words() {
    let mut redactor = Redactor {
        known: vec![(Kind::Host, "web1".into()), (Kind::User, "alice".into())],
        ..Redactor::default()
    };
    let text = redactor.text("web1-data WEB1 web12 /srv/alice alice_x malice");
    assert_eq!(text, "host-1-data host-1 web12 /srv/user-1 user-1_x malice");
}

#[test]
fn redacting_twice_changes_nothing_more() {
    let mut redactor = Redactor::default();
    let once = redactor.text("a@b.example.com 10.0.0.1:/x //srv/y /home/eve fd00::1");
    assert_eq!(redactor.made_text(&once), once);
}
