//! Runs confined as in a container: no root, no capabilities, a seccomp filter, little shared memory and a sparse
//! cpuset. What can run runs, and what cannot says why.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::chown;
use std::panic::resume_unwind;
use std::path::Path;
use std::process::Command;
use std::{fs, thread};

use ipcperf_engine::mechanism::SURVEYED;
use ipcperf_engine::placement::Topology;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Gid, Uid, geteuid};
use rustix::thread::{
    CpuSet, UnshareFlags, sched_setaffinity, set_thread_groups, set_thread_res_gid,
    set_thread_res_uid, unshare_unsafe,
};
use seccompiler::{
    SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};
use serde_json::Value;

use crate::results::{ResultsFile, text};
use crate::sandbox::{Finished, Sandbox, with_time};
use crate::skip::skip;

/// User and group ID of `nobody`.
const NOBODY: u32 = 65_534;

/// System calls that container engines refuse by default.
const REFUSED: [libc::c_long; 25] = [
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_move_pages,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_perf_event_open,
    libc::SYS_personality,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];
/// Namespaces that clone(2) may not create.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// A folder of user `nobody`, with a copy of the command that this user can execute.
struct Container {
    sandbox: Sandbox,
    cpus: Vec<u32>,
}

impl Container {
    /// Creates the container; `None` if this user cannot confine a process.
    fn open(cpus: Vec<u32>) -> Option<Self> {
        if !geteuid().is_root() {
            skip("a container", "only root can make one");
            return None;
        }
        let sandbox = Sandbox::open();
        sandbox.copy_command("ipcperf");
        for name in ["", "tmp", "data"] {
            chown(sandbox.path(name), Some(NOBODY), Some(NOBODY)).expect("a gift");
        }
        Some(Self { sandbox, cpus })
    }

    /// Runs the command with `arguments`, confined. The confinement applies to a thread, is inherited by the processes
    /// that it starts, and ends with it.
    fn run(&self, arguments: &str) -> Option<Finished> {
        thread::scope(|scope| {
            let confined = scope.spawn(|| self.run_here(arguments));
            confined.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    }

    fn run_here(&self, arguments: &str) -> Option<Finished> {
        if let Err(errno) = own_shared_memory() {
            skip("a container", &format!("a /dev/shm of its own: {errno}"));
            return None;
        }
        narrow(&self.cpus);
        become_nobody();
        refuse_calls();
        assert_confined();
        let command = Command::new(self.sandbox.path("ipcperf"));
        let finished = self.sandbox.finish(self.sandbox.place(command, arguments));
        let left: Vec<_> = fs::read_dir("/dev/shm").expect("shared memory").collect();
        assert!(left.is_empty(), "left in shared memory: {left:?}");
        Some(finished)
    }
}

/// Enters a mount namespace with 64 MiB of `/dev/shm`.
fn own_shared_memory() -> rustix::io::Result<()> {
    // SAFETY: only mounts become private to this thread; descriptors stay shared.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS)? };
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    mount("shm", "/dev/shm", "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"size=64m,mode=1777")
}

fn narrow(cpus: &[u32]) {
    let mut set = CpuSet::new();
    cpus.iter().for_each(|&cpu| set.set(cpu as usize));
    sched_setaffinity(None, &set).expect("allowed CPUs");
}

/// Gives up root and with it every capability.
fn become_nobody() {
    let (group, user) = (Gid::from_raw(NOBODY), Uid::from_raw(NOBODY));
    set_thread_groups(&[]).expect("no groups");
    set_thread_res_gid(group, group, group).expect("another group");
    set_thread_res_uid(user, user, user).expect("another user");
}

/// Installs two filters: `clone3`, unlike the other calls, is reported as missing, so that C libraries fall back to
/// `clone`.
fn refuse_calls() {
    let flag = |&flag: &libc::c_int| {
        let flag = u64::try_from(flag).expect("a bit");
        let is_set = SeccompCmpOp::MaskedEq(flag);
        SeccompRule::new(vec![
            SeccompCondition::new(0, SeccompCmpArgLen::Qword, is_set, flag).expect("a condition"),
        ])
    };
    let namespaces: Result<Vec<_>, _> = NAMESPACES.iter().map(flag).collect();
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().map(|&call| (call, Vec::new())).collect();
    refused.insert(libc::SYS_clone, namespaces.expect("rules"));
    let absent = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    for (calls, errno) in [(absent, libc::ENOSYS), (refused, libc::EPERM)] {
        let errno = SeccompAction::Errno(errno.unsigned_abs());
        let architecture = std::env::consts::ARCH.try_into().expect("a known architecture");
        let filter = SeccompFilter::new(calls, SeccompAction::Allow, errno, architecture);
        let program: seccompiler::BpfProgram =
            filter.and_then(TryInto::try_into).expect("a program");
        apply_filter(&program).expect("a filter");
    }
}

/// Checks that the confinement is in force; otherwise the tests would prove nothing.
fn assert_confined() {
    let status = fs::read_to_string("/proc/thread-self/status").expect("this thread");
    for line in ["Uid:\t65534\t65534", "CapEff:\t0000000000000000", "Seccomp:\t2", "NoNewPrivs:\t1"]
    {
        assert!(status.contains(line), "no {line}: {status}");
    }
    let refused = mount("none", "/mnt", "tmpfs", MountFlags::empty(), None);
    assert_eq!(refused, Err(rustix::io::Errno::PERM));
}

/// Returns every second allowed CPU, without the first one if there are several.
fn sparse_cpus() -> Vec<u32> {
    let topology = Topology::read().expect("the allowed CPUs");
    let all: Vec<u32> = topology.cpus.iter().map(|cpu| cpu.number).collect();
    let odd: Vec<u32> = all.iter().copied().skip(1).step_by(2).collect();
    if odd.is_empty() { all } else { odd }
}

fn last_cpu() -> Vec<u32> {
    let topology = Topology::read().expect("the allowed CPUs");
    topology.cpus.last().map(|cpu| cpu.number).into_iter().collect()
}

/// Checks that every mechanism that is listed as available has samples and figures, and that the others have a reason.
/// On a very busy machine the time of a survey ends before all of its runs are made: then only what was made is checked.
fn assert_all_ran(file: &ResultsFile, summaries: &[Value], listed: &[Value]) {
    let is_whole = file.footer["complete"] == true;
    let refused = file.header["plan"]["refused"].as_array().expect("an array");
    // A mechanism that cannot carry messages of the requested sizes is refused, which counts as an answer.
    let answered = file.samples.iter().chain(refused).map(|run| text(run, "mechanism"));
    let answered: BTreeSet<&str> = answered.collect();
    let of = |available| {
        let listed = listed.iter().filter(move |entry| entry["available"] == available);
        listed.map(|entry| text(entry, "name")).collect::<BTreeSet<_>>()
    };
    assert!(answered == of(true) || !is_whole && answered.is_subset(&of(true)), "{answered:?}");
    for summary in summaries {
        assert!(!is_whole || has_a_figure(summary) || is_explained(summary), "{summary}");
    }
    let unavailable = file.header["plan"]["unavailable"].as_array().expect("an array");
    let named: BTreeSet<&str> =
        unavailable.iter().map(|absent| text(absent, "mechanism")).collect();
    assert_eq!(named, of(false));
    assert!(unavailable.iter().all(|absent| !text(absent, "reason").is_empty()));
}

fn has_a_figure(summary: &Value) -> bool {
    let figures = ["bandwidth_bytes_per_s", "ns_per_message", "round_trip_ns_mean"];
    figures.iter().any(|key| summary[key]["median"].as_f64().is_some_and(|median| median > 0.0))
}

/// Whether the case was refused with a reason, or was always disturbed, which may happen on a shared machine.
fn is_explained(summary: &Value) -> bool {
    let refused = summary["refused"].as_str().is_some_and(|reason| !reason.is_empty());
    refused || summary["disturbed"].as_u64() > Some(0)
}

fn array(text: &str) -> Vec<Value> {
    serde_json::from_str(text).expect(text)
}

/// Measures with `arguments` on sparse CPUs and returns the printed summaries.
fn measure(arguments: &str) -> Option<(Container, Vec<Value>)> {
    let container = Container::open(sparse_cpus())?;
    let out = container.sandbox.results();
    let measured = container.run(&format!("{arguments} --json --out {}", out.display()))?.expect(0);
    let mut listed = array(&container.run("list mechanisms --json")?.expect(0).stdout);
    if arguments.starts_with("survey") {
        listed.retain(|entry| SURVEYED.iter().any(|known| known.name == text(entry, "name")));
    }
    let summaries = array(&measured.stdout);
    let file = ResultsFile::read(&out);
    // Only a survey has a time limit for all runs together.
    assert!(file.footer["complete"] == true || arguments.starts_with("survey"), "{}", file.footer);
    assert_all_ran(&file, &summaries, &listed);
    container.sandbox.assert_nothing_left();
    Some((container, summaries))
}

#[test]
fn the_survey_works_and_says_what_cannot_run() {
    let Some((container, summaries)) = measure("survey --quick") else { return };
    let split = summaries.iter().filter(|summary| summary["placement"] == "split");
    let reasons: Vec<Option<&str>> = split.map(|summary| summary["refused"].as_str()).collect();
    assert!(!reasons.is_empty());
    let has_one_cpu = container.cpus.len() == 1;
    let is_told = |reason: &str| reason.contains("two CPUs");
    assert!(reasons.iter().all(|reason| reason.is_some_and(is_told) == has_one_cpu), "{reasons:?}");
}

#[test]
fn every_mechanism_works_in_every_mode() {
    let modes = "--mode 1thread,2thread,2proc --placement same,free";
    measure(&with_time(&format!(
        "run -m all -w stream,round-trip -b 64,70000 --total 70000 {modes} --repetitions 1"
    )));
}

#[test]
fn split_on_one_cpu_is_refused_in_a_line() {
    let Some(container) = Container::open(last_cpu()) else { return };
    let Some(refused) = container.run("run -m pipe,shm-ring --placement split") else { return };
    let refused = refused.expect(3);
    assert_eq!(refused.stderr.lines().count(), 1, "{}", refused.stderr);
    for word in ["none of the requested cases can run here", "two CPUs"] {
        assert!(refused.stderr.contains(word), "no `{word}`: {}", refused.stderr);
    }
    assert!(is_empty(&container.sandbox.path("data")), "wrote results");
    container.sandbox.assert_nothing_left();
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).expect("a folder").next().is_none()
}
