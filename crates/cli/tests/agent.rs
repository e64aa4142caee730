//! Trials performed by agents: as in this process, and what becomes of a run whose agent is lost.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::process::{Child, Command, Stdio};

use iotax_testing::{needs, needs_program, needs_root};
use serde_json::Value;

use support::group::Container;
use support::{Desk, Said, wait_for};

fn agent() -> String {
    format!("{} agent", assert_cmd::cargo::cargo_bin!("iotax").display())
}

/// The trials on disk.
fn trials(desk: &Desk, record: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(desk.path().join(record).join("trials.jsonl"));
    let text = text.unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The agents that a run has started.
fn agents_of(run: &Child) -> Vec<String> {
    let children = format!("/proc/{0}/task/{0}/children", run.id());
    let children = std::fs::read_to_string(children).unwrap_or_default();
    children.split_whitespace().map(str::to_owned).collect()
}

/// One arm in this process, and the same behind an agent.
fn compared_with_an_agent() -> (Desk, Said) {
    let desk = Desk::new();
    let load = ["--set", "size=4M", "--time", "300ms", "--ramp", "0", "--max-blocks", "3"];
    let behind = format!("there={}", agent());
    let arms = ["here=.", "there=.", "--agent", &behind, "--no-depth-check", "--out", "out"];
    let said = desk.run(&[&["compare", "-w", "randread-4k"], &arms[..], &load[..]].concat());
    (desk, said)
}

#[test]
fn an_arm_behind_an_agent_is_measured_like_one_in_this_process() {
    // A disk that others use may keep one I/O for longer than so short a window: then once more.
    let is_whole = |desk: &Desk| trials(desk, "out").iter().all(|t| t["outcome"] == "completed");
    let (desk, said) = (0..5)
        .map(|_| compared_with_an_agent())
        .find(|(desk, _)| is_whole(desk))
        .expect("one of five has no such trial");
    assert_eq!(said.code, 0, "{said}");
    let trials = trials(&desk, "out");
    assert_eq!(trials.len(), 6, "{said}");
    for trial in &trials {
        assert_eq!(trial["outcome"], "completed", "{trial}");
        assert!(trial["load"]["jobs"][0]["read"]["ios"].as_u64().unwrap() > 0, "{trial}");
        assert!(!trial["counters"]["at_ns"].as_array().unwrap().is_empty(), "{trial}");
    }
    let head = std::fs::read(desk.path().join("out/experiment.json")).unwrap();
    let head: Value = serde_json::from_slice(&head).unwrap();
    let role = |place: usize| head["hosts"][place]["role"].as_str().unwrap();
    let host_of = |site: usize| head["sites"][site]["host"].as_u64().unwrap();
    assert_eq!([(host_of(0), role(0)), (host_of(1), role(1))], [(0, "local"), (1, "agent")]);
    let under = |place: usize| &head["hosts"][place]["machine"]["paths"][0]["path"];
    assert_eq!(under(0), under(1), "both looked at what lies under their target");
    assert_eq!(head["hosts"][0]["id"], head["hosts"][1]["id"]);
    assert_eq!(desk.names(), ["out"]);
    assert!(desk.journals().is_empty());

    let text = desk.run(&["doctor", "--record", "out"]).out;
    assert!(text.contains("Host 1 of 2\n"), "{text}");
    assert!(text.contains("Host 2 of 2, measured by an agent\n"), "{text}");
    let json: Value =
        serde_json::from_str(&desk.run(&["doctor", "--record", "out", "--format", "json"]).out)
            .unwrap();
    assert!((0..2).all(|at| json["hosts"][at]["stack"][0]["top"].is_object()), "{json:#}");
    let save = desk.run(&["doctor", "--record", "out", "--save", "there.json"]);
    insta::assert_snapshot!(save, @"
    error: these results are from 2 hosts, but --save can save only one host; run iotax doctor --save on each host
    [exit 2]
    ");
}

#[test]
fn a_killed_agent_is_a_failed_trial_and_the_run_goes_on() {
    let desk = Desk::new();
    let agent = agent();
    let mut command = desk.command(&["run", "randread-4k", ".", "--agent", &agent, "-n", "8"]);
    command.args(["--set", "size=4M", "--time", "500ms", "--ramp", "0", "--out", "out"]);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Three are killed; never two in a row, for then the arm might be given up.
    for kill in 0..3 {
        wait_for("a trial that is done", || {
            let trials = trials(&desk, "out");
            let done = trials.iter().filter(|trial| trial["outcome"] == "completed").count();
            done > kill || run.try_wait().unwrap().is_some()
        });
        let agents = agents_of(&run);
        assert_eq!(agents.len(), 1, "{agents:?}");
        Command::new("kill").args(["-9", &agents[0]]).status().unwrap();
        wait_for("the trial to fail", || {
            let trials = trials(&desk, "out");
            let failed = trials.iter().filter(|trial| trial["outcome"]["failed"].is_object());
            failed.count() > kill || run.try_wait().unwrap().is_some()
        });
    }
    assert!(run.wait().unwrap().success());
    let trials = trials(&desk, "out");
    let errors: Vec<String> = trials
        .iter()
        .filter_map(|trial| trial["outcome"]["failed"]["error"].as_str())
        .map(|error| error.replace(&agent, "iotax agent"))
        .collect();
    assert_eq!((trials.len(), errors.len()), (8, 3), "{errors:?}");
    for error in errors {
        assert!(error.starts_with("the agent `iotax agent` was lost: "), "{error}");
        assert!(error.contains("signal: 9"), "{error}");
    }
    assert_eq!(desk.names(), ["out"], "nothing is left of the agents");
    assert!(desk.journals().is_empty());
}

/// Two agents whose arms alternate in slices. Once some are done, `disturb` is done to the run.
fn in_slices(disturb: impl FnOnce(&Child)) -> (Desk, Said) {
    let desk = Desk::new();
    // One command is one agent, whatever arms it has.
    let agents = [format!("a={}", agent()), format!("b=env {}", agent())];
    // No disk, whose stalls could make slices as long as whole trials. No run stops before its
    // fewest blocks.
    let file = "workload = \"randread-4k\"\nmode = \"tight\"\nmin-blocks = 30\nmax-blocks = 60\n\
        depth-check = false\nset.size = \"4M\"\narms = { a = \"mem(size=4M)\", b = \"mem(size=4M)\" }\n";
    std::fs::write(desk.path().join("x.toml"), file).unwrap();
    let words = ["compare", "x.toml", "--agent", &agents[0], "--agent", &agents[1]];
    let words = [&words[..], &["--out", "out"]].concat();
    let mut command = desk.command(&words);
    let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let has_ended = |run: &mut Child| run.try_wait().unwrap().is_some();
    wait_for("slices of both arms", || trials(&desk, "out").len() > 10 || has_ended(&mut run));
    disturb(&run);
    let ended = run.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = ended.status.code().unwrap_or(-1);
    let said = Said { code, out: text(&ended.stdout), err: text(&ended.stderr) };
    (desk, said)
}

fn head(desk: &Desk, record: &str) -> Value {
    serde_json::from_slice(
        &std::fs::read(desk.path().join(record).join("experiment.json")).unwrap(),
    )
    .unwrap()
}

#[test]
fn an_agent_that_is_killed_among_slices_is_one_slice_that_failed() {
    let (desk, said) = in_slices(|run| {
        let agents = agents_of(run);
        assert_eq!(agents.len(), 2, "{agents:?}");
        Command::new("kill").args(["-9", &agents[1]]).status().unwrap();
    });
    assert_eq!(said.code, 0, "{said}");
    let time_ns = head(&desk, "out")["spec"]["phases"][0]["time_ns"].as_u64().unwrap();
    assert!(time_ns < 5_000_000_000, "{time_ns} ns are no slice");
    let trials = trials(&desk, "out");
    let errors: Vec<&str> =
        trials.iter().filter_map(|trial| trial["outcome"]["failed"]["error"].as_str()).collect();
    assert!(matches!(errors[..], [error] if error.contains("was lost: ")), "{errors:?}");
    let of_b = |trial: &&Value| trial["arm"] == "b" && !trial["outcome"]["failed"].is_object();
    let at = trials.iter().position(|trial| trial["outcome"]["failed"].is_object()).unwrap();
    assert!(trials[at..].iter().filter(of_b).count() > 10, "it goes on: {said}");
    assert_eq!(desk.names(), ["out", "x.toml"], "nothing is left of the agents");
    assert!(desk.journals().is_empty());
}

#[test]
fn a_run_that_is_stopped_among_slices_keeps_them() {
    let (desk, said) = in_slices(|run| {
        Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    });
    assert_eq!(said.code, 4, "{said}");
    let end: Value =
        serde_json::from_slice(&std::fs::read(desk.path().join("out/end.json")).unwrap()).unwrap();
    assert_eq!(end["interrupted"], true, "{end}");
    let completed = trials(&desk, "out").iter().filter(|t| t["outcome"] == "completed").count();
    assert!(completed >= 10, "{completed}");
    assert_eq!(desk.names(), ["out", "x.toml"], "nothing is left of the agents");
    assert!(desk.journals().is_empty());
}

#[test]
fn an_agent_that_is_none_is_said_to_be_none() {
    let desk = Desk::new();
    let run = |agent: &str| {
        desk.run(&["run", "randread-4k", ".", "--agent", agent, "--out", "out"]).to_string()
    };
    insta::assert_snapshot!(run("/no/such/program"), @"
    error: cannot start the agent `/no/such/program`: No such file or directory (os error 2)
    [exit 3]
    ");
    insta::assert_snapshot!(run("true"), @"
    error: the agent `true` was lost: it exited (exit status: 0)
    [exit 3]
    ");
    insta::assert_snapshot!(run("'unfinished"), @"
    error: --agent 'unfinished: not a valid command; enter it as in a shell, for example --agent 'ssh HOST iotax agent'
    [exit 2]
    ");
    assert_eq!(desk.names(), Vec::<String>::new());
}

#[test]
fn a_container_is_kept_up_while_somebody_else_is_in_it() {
    if !needs_root() || !needs_program("unshare") {
        return;
    }
    let desk = Desk::new();
    let iotax = assert_cmd::cargo::cargo_bin!("iotax").display().to_string();
    // What is left in a PID namespace dies with its first process, which is iotax here.
    let script = format!("(sleep 2; touch done) & exec {iotax} agent --keep 500ms");
    let status = Command::new("unshare")
        .args(["--pid", "--fork", "--mount-proc", "sh", "-c", &script])
        .current_dir(desk.path())
        .env("IOTAX_STATE_DIR", desk.path().join("state"))
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
    assert_eq!(desk.names(), ["done"]);
}

/// A container in the PID namespace of its node, where other processes never end.
#[test]
fn a_container_among_others_is_kept_up_while_somebody_is_in_its_group() {
    if !needs_root() {
        return;
    }
    let desk = Desk::new();
    let iotax = assert_cmd::cargo::cargo_bin!("iotax").display().to_string();
    let script = format!("(sleep 2; touch done) & exec {iotax} agent --keep 500ms");
    let container = Container::start(&desk, &script);
    if !needs(container.is_some(), "control groups") {
        return;
    }
    let mut container = container.unwrap();
    assert!(container.shell.wait().unwrap().success());
    assert_eq!(desk.names(), ["done"]);
}

#[test]
fn a_container_that_is_ended_leaves_nothing_on_its_volumes() {
    if !needs_root() || !needs_program("unshare") {
        return;
    }
    let desk = Desk::new();
    let iotax = assert_cmd::cargo::cargo_bin!("iotax").display().to_string();
    let script = format!(
        "{iotax} run randread-4k . --set size=8M --time 600s --quiet &
         until ls -d .iotax-*/*; do sleep 0.1; done
         caught() {{ echo $((0x$(sed -n 's/^SigCgt:.//p' /proc/1/status) & 0x4000)); }}
         (until [ $(caught) != 0 ]; do sleep 0.1; done; kill -TERM 1) &
         exec {iotax} agent --keep 600s"
    );
    let status = Command::new("unshare")
        .args(["--pid", "--fork", "--mount-proc", "sh", "-c", &script])
        .current_dir(desk.path())
        .env("IOTAX_STATE_DIR", desk.path().join("state"))
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
    let left: Vec<String> = desk.names();
    let left: Vec<_> = left.iter().filter(|name| name.starts_with(".iotax-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// What it says is a length, and more of it than anybody has memory for.
#[test]
fn an_agent_that_says_anything_without_end_is_lost() {
    let desk = Desk::new();
    let said = desk.run(&["run", "randread-4k", "mem(size=16M)", "--agent", "yes"]);
    assert_eq!(said.code, 3, "{said}");
    assert!(said.err.contains("the agent `yes` was lost: it announced a "), "{said}");
}
