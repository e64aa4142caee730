//! A user's own table against the catalog.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use insta::assert_snapshot;
use iotax_catalog::{Agreement, Checked, Scope, check_claims, read_claims};

fn checked(table: &str) -> Vec<Checked> {
    check_claims(&read_claims("own.csv", table.as_bytes()).unwrap())
}

#[test]
fn figures_of_another_size_are_told_to_be_that_ones() {
    let table = "name,iops,mbps,burst_iops,burst_mbps\nDC4as_v5,6400,144,20000,600\n";
    let [row] = checked(table).try_into().unwrap();
    assert_eq!(row.agreement, Agreement::Differs);
    assert_eq!(row.of.as_deref(), Some("Standard_DC4as_v5"));
    assert_eq!(row.scope, Some(Scope::VmUncached));
    assert_eq!(row.belongs_to[0], "Standard_D4as_v5");
    assert_eq!(row.known.unwrap().bw_bytes, Some(96e6));
    assert!(row.conflict.unwrap().claimed_by.text.contains("Constellation"));
}

#[test]
fn the_catalog_agrees_with_its_own_tables() {
    for table in
        [include_str!("../data/azure_vm_sizes.csv"), include_str!("../data/azure_disks.csv")]
    {
        let claims = read_claims("own.csv", table.as_bytes()).unwrap();
        // A few hundred rows take long enough where each question parses all tables.
        let some: Vec<_> = claims.into_iter().step_by(97).collect();
        let plain = |name: &str| !name.contains('@') && !["rule", "free"].contains(&name);
        let some: Vec<_> = some.into_iter().filter(|claim| plain(&claim.name)).collect();
        assert!(!some.is_empty());
        for row in check_claims(&some) {
            assert_eq!(row.agreement, Agreement::Same, "{row:?}");
        }
    }
}

#[test]
fn each_kind_of_answer() {
    let table = "\u{feff}Name,Scope,IOPS,MBps,burst_iops,extra\n\
                 P30,disk,5000,200,,x\n\
                 P10,,600,,,\n\
                 DS1_v2,cached,4000,32,,\n\
                 D4as_v4,uncached,6400,,9000,\n\
                 DS1_v7,,3200,48,,\n\
                 r6i.4xlarge,instance,20000,625,40000,\n\
                 \"gp3:size=100G,iops=4000\",,4000,125,,\n\
                 r6i.4xlarge,cached,1,,,\n";
    let lines: Vec<_> = checked(table)
        .iter()
        .map(|row| {
            let problem = row.problem.as_deref().unwrap_or_default();
            format!("{} {} {:?} {problem}", row.claim.line, row.claim.name, row.agreement)
        })
        .collect();
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_table_that_cannot_be_read_says_where() {
    let said = |table: &&[u8]| read_claims("own.csv", table).unwrap_err().to_string();
    let tables: [&[u8]; 10] = [
        b"",
        b"vm,iops\nP30,1\n",
        b"name,iops\n",
        b"name,iops\nP30,many\n",
        b"name,iops\nP30,-1\n",
        b"name,iops\n\nP10,500\nP30,1,2\n",
        b"name,iops,iops\nP30,1,2\n",
        b"name,iops\n,1\n",
        b"name,iops\nP30,\n",
        b"name,scope,iops\nP30,floppy,1\n",
    ];
    assert_snapshot!(tables.iter().map(said).collect::<Vec<_>>().join("\n"));
}
