mod contents;
mod finished;
mod lying;

use std::io::{PipeReader, PipeWriter, pipe};
use std::path::PathBuf;
use std::thread;

use iotax_experiment::{Arm, Fault, Spec, Stop, Target, Workload};

use super::frame::{Limit, receive, send};
use super::message::{Command, Look, Open, PROTOCOL, Reply};
use super::{AgentOptions, GivenUp, PeerSecret, serve};

/// An agent in a thread, and the two ends to speak with it.
struct Served {
    to: PipeWriter,
    from: PipeReader,
    agent: thread::JoinHandle<std::io::Result<()>>,
}

impl Served {
    fn start() -> Self {
        Self::with_state(None)
    }

    fn with_state(state_dir: Option<PathBuf>) -> Self {
        let ((input, to), (from, output)) = (pipe().unwrap(), pipe().unwrap());
        let options = AgentOptions { program: "iotax".into(), state_dir, finishes_trials: false };
        let agent = thread::spawn(move || serve(input, output, &options));
        Self { to, from, agent }
    }

    /// What it says next that is no sign of life.
    fn reply(&mut self) -> Option<Reply> {
        loop {
            match receive(&mut self.from, || Limit::PLAIN).unwrap() {
                Some(Reply::Alive { .. }) => {}
                other => return other,
            }
        }
    }

    fn ask(&mut self, command: &Command) -> Reply {
        send(&mut self.to, command).unwrap();
        self.reply().unwrap()
    }
}

#[test]
fn an_agent_says_its_version_and_ends_with_its_input() {
    let mut served = Served::start();
    let hello = served.ask(&Command::Hello { protocol: PROTOCOL });
    assert!(matches!(hello, Reply::Hello { protocol: PROTOCOL, .. }), "{hello:?}");
    drop(served.to);
    served.agent.join().unwrap().unwrap();
}

#[test]
fn an_agent_without_arms_says_what_is_wrong() {
    let mut served = Served::start();
    let Reply::Failed { error, fault } = served.ask(&Command::Up { arm: 0 }) else { panic!() };
    assert_eq!(fault, Fault::Usage);
    insta::assert_snapshot!(error, @"the agent was asked to run a trial before it received any arms");
}

#[test]
fn an_agent_looks_at_paths_without_arms() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_owned();
    let look = |paths, root| Served::start().ask(&Command::Look(Look { paths, root }));
    let Reply::Looked(seen) = look(vec![path.clone()], None) else { panic!() };
    assert_eq!(seen.paths[0].path, path.display().to_string());
    assert!(seen.paths[0].top.is_some() && !seen.nodes.is_empty());
    // Nothing is left there.
    assert_eq!(std::fs::read_dir(&path).unwrap().count(), 0);
    // What is not below a root is not looked at, and nobody goes there.
    let Reply::Failed { error, fault } = look(vec!["/".into()], Some(path.clone())) else {
        panic!()
    };
    assert_eq!(fault, Fault::Environment);
    assert_eq!(error, format!("/: not found below {}", path.display()));
}

#[test]
fn an_agent_that_is_told_garbage_ends() {
    let mut served = Served::start();
    std::io::Write::write_all(&mut served.to, &[0xff; 64]).unwrap();
    assert!(served.reply().is_none());
    let error = served.agent.join().unwrap().unwrap_err();
    insta::assert_snapshot!(error, @"it sent data that is not part of the protocol");
}

/// What is known of peers goes over the streams, and nowhere else.
#[test]
fn secrets_of_peers_come_over_whole_and_are_not_shown() {
    let secret = PeerSecret([0xab; PeerSecret::BYTES]);
    let open = Open {
        spec: spec(),
        work_dir: "/".into(),
        given_up: GivenUp::default(),
        secrets: [("10.0.0.2:7474".to_owned(), secret.clone())].into(),
    };
    let shown = format!("{open:?}");
    assert!(!shown.contains("abab") && !shown.contains("171"), "{shown}");
    assert!(!serde_json::to_string(&open.spec).unwrap().contains("abab"));
    let mut stream = Vec::new();
    send(&mut stream, &Command::Open(Box::new(open))).unwrap();
    let Some(Command::Open(heard)) = receive(&mut stream.as_slice(), || Limit::PLAIN).unwrap()
    else {
        panic!()
    };
    assert_eq!(heard.secrets["10.0.0.2:7474"], secret);
    // What is no token is refused, and not repeated.
    let text = String::from_utf8(stream[8..].to_vec()).unwrap().replacen("abab", "xyxy", 1);
    let error = serde_json::from_str::<Command>(&text).unwrap_err().to_string();
    assert!(error.starts_with("not a token") && !error.contains("abab"), "{error}");
}

#[test]
fn a_peer_is_reached_and_tells_what_it_sees() {
    let secret = PeerSecret([7; PeerSecret::BYTES]);
    let served = secret.clone();
    let (tell, told) = std::sync::mpsc::channel();
    thread::spawn(move || {
        iotax_load::serve_peer(([127, 0, 0, 1], 0).into(), served, |at| {
            tell.send(at).map_err(std::io::Error::other)
        })
    });
    let address = told.recv().unwrap();
    let mut spec = spec();
    spec =
        spec.with(|spec| spec.arms[0].target = Target::parse(&format!("tcp://{address}")).unwrap());
    let open = |secrets| Open {
        spec: spec.clone(),
        work_dir: "/".into(),
        given_up: GivenUp::default(),
        secrets,
    };
    let reach = |secrets, patience| {
        let mut agent = Served::start();
        agent.ask(&Command::Open(Box::new(open(secrets))));
        agent.ask(&Command::Reach { arm: 0, patience_ns: patience })
    };
    let reached = reach([(address.to_string(), secret)].into(), 60_000_000_000);
    let Reply::Reached(reached) = reached else { panic!("{reached:?}") };
    assert_eq!((reached.far, reached.far_own), (address, address));
    assert_eq!(reached.near, reached.near_seen);
    assert!(reached.mtu_bytes.is_some() && reached.resolved_ns.is_none());
    let wrong = [(address.to_string(), PeerSecret([8; PeerSecret::BYTES]))].into();
    let Reply::Failed { error, .. } = reach(wrong, 0) else { panic!() };
    assert!(error.contains("rejected the token"), "{error}");
}

fn spec() -> Spec {
    let workload = Workload::preset("tcp-rr").unwrap();
    let arm = Arm::new("a", Target::parse("tcp://10.0.0.2:7474").unwrap());
    Spec::single(workload, arm, Stop::default(), 1).unwrap()
}
