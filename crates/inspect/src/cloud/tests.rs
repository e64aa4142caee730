//! The services as servers on this machine.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};

use proptest::prelude::*;

use super::word;
use super::*;

/// As the service of Azure answers, cut to what matters and one field that is not read.
pub(super) const ANSWER: &str = r#"{"compute":{"azEnvironment":"AzurePublicCloud",
"location":"westeurope","storageProfile":{"dataDisks":[{"bytesPerSecondThrottle":"979202048",
"caching":"ReadOnly","createOption":"Empty","diskCapacityBytes":"137438953472","diskSizeGB":"128",
"isSharedDisk":"false","isUltraDisk":"false","lun":"0","managedDisk":{"id":"/subscriptions/x",
"storageAccountType":"Premium_LRS"},"name":"data-f","opsPerSecondThrottle":"65280"}],
"osDisk":{"caching":"ReadWrite","diskSizeGB":"30","managedDisk":{"id":"",
"storageAccountType":""},"name":"os","osType":"Linux"}},"vmSize":"Standard_DS1_v2"},
"network":{"interface":[]}}"#;

/// Far above what a server on this machine needs, so that only those that hang meet it.
const PATIENT: Duration = Duration::from_secs(30);

/// A server that answers each request by its lines, method and path first.
fn server(answer: impl Fn(&[String]) -> Vec<u8> + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer = std::sync::Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = std::sync::Arc::clone(&answer);
            thread::spawn(move || respond(stream, &*answer));
        }
    });
    address
}

fn respond(mut stream: TcpStream, answer: &dyn Fn(&[String]) -> Vec<u8>) {
    let lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let lines = lines.map_while(Result::ok).take_while(|line| !line.is_empty());
    let lines: Vec<String> = lines.map(|line| line.to_lowercase()).collect();
    // Who asked may have given up.
    let _ = stream.write_all(&answer(&lines));
}

fn status(code: u16, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {code} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
        .into_bytes()
}

/// Whether the request begins so and has this header.
fn is(lines: &[String], request: &str, header: &str) -> bool {
    lines.first().is_some_and(|line| line.starts_with(request))
        && lines.iter().any(|line| line == header)
}

/// Cloud, size and region.
fn told(address: SocketAddr) -> Option<[String; 3]> {
    let found = within(address, PATIENT)?;
    Some([found.cloud, found.vm, found.region.unwrap_or_default()])
}

#[test]
fn azure_is_recognised() {
    let address = server(|lines| {
        let request = "get /metadata/instance?api-version=2021-02-01 http/1.1";
        if is(lines, request, "metadata: true") { status(200, ANSWER) } else { status(404, "") }
    });
    assert_eq!(told(address).unwrap(), ["Azure", "Standard_DS1_v2", "westeurope"]);
}

#[test]
fn the_newest_version_that_azure_has_is_asked_for_where_ours_is_newer() {
    let address = server(|lines| {
        if is(lines, "get /metadata/instance?api-version=2024-07-17 http/1.1", "metadata: true") {
            status(200, ANSWER)
        } else {
            status(400, r#"{"error":"Bad request","newest-versions":["2024-07-17","2024-03-15"]}"#)
        }
    });
    assert_eq!(told(address).unwrap(), ["Azure", "Standard_DS1_v2", "westeurope"]);
}

#[test]
fn aws_is_recognised_by_its_token() {
    let address = server(|lines| {
        let token = "x-aws-ec2-metadata-token: secret==";
        let is_put =
            is(lines, "put /latest/api/token http/1.1", "x-aws-ec2-metadata-token-ttl-seconds: 60");
        if is_put {
            status(200, "secret==")
        } else if is(lines, "get /latest/meta-data/instance-type ", token) {
            status(200, "m5.large")
        } else if is(lines, "get /latest/meta-data/placement/region ", token) {
            status(200, "eu-central-1")
        } else {
            status(401, "")
        }
    });
    assert_eq!(told(address).unwrap(), ["AWS", "m5.large", "eu-central-1"]);
}

#[test]
fn google_is_recognised() {
    let address = server(|lines| {
        let under = |key: &str| {
            let request = format!("get /computemetadata/v1/instance/{key} ");
            is(lines, &request, "metadata-flavor: google")
        };
        if under("machine-type") {
            status(200, "projects/12/machineTypes/n2-standard-8")
        } else if under("zone") {
            status(200, "projects/12/zones/us-east1-c")
        } else {
            status(404, "")
        }
    });
    assert_eq!(told(address).unwrap(), ["Google Cloud", "n2-standard-8", "us-east1"]);
}

#[test]
fn a_server_of_something_else_is_no_cloud() {
    for body in ["", "<html>a page of a router</html>", "{\"compute\":7}", "\u{0}\u{1}"] {
        assert_eq!(told(server(move |_| status(200, body))), None, "{body}");
    }
    assert_eq!(told(server(|_| b"\xff\xfe no HTTP at all\r\n\r\n".to_vec())), None);
    assert_eq!(told(server(|_| status(404, ANSWER))), None);
    let elsewhere = "HTTP/1.1 302 X\r\nlocation: /metadata/x\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(told(server(move |_| elsewhere.as_bytes().to_vec())), None);
}

#[test]
fn an_answer_without_end_is_not_read() {
    let long = ANSWER.replacen('{', &format!("{{{}", " ".repeat(65 << 10)), 1);
    assert_eq!(told(server(move |_| status(200, &long))), None);
}

#[test]
fn nobody_there_is_no_cloud() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    assert_eq!(told(address), None);
}

#[test]
fn a_server_that_hangs_is_given_up() {
    // It takes connections and requests, and never answers; the answer would be right.
    let (release, held) = mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let address = server(move |_| {
        let _ = held.lock().map(|held| held.recv());
        status(200, ANSWER)
    });
    let started = Instant::now();
    assert_eq!(within(address, Duration::from_millis(200)), None);
    // Wide: that it ends at all is the matter.
    assert!(started.elapsed() < PATIENT);
    drop(release);
}

proptest! {
    #[test]
    fn names_are_plain_whatever_was_answered(text in ".*") {
        if let Some(word) = word(&text) {
            prop_assert!(word.chars().all(|c| c.is_ascii_graphic()));
        }
    }
}
