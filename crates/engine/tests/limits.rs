//! Limits where the system is not obliging, and what measuring leaves behind.

use std::mem::offset_of;
use std::time::{Duration, Instant};
use std::{fs, thread};

use ipcperf_engine::limits::{Effort, measure};
use ipcperf_engine::placement::{Topology, pin};
use ipcperf_model::hardware_limits::HardwareLimits;

const SIZES: [usize; 2] = [4096, 65_536];

fn measured() -> HardwareLimits {
    measure(&Topology::read().unwrap(), &SIZES, Effort::Brief)
}

/// Entries of a folder of `/proc/self`.
fn count(folder: &str) -> usize {
    fs::read_dir(format!("/proc/self/{folder}")).unwrap().count()
}

/// Each test wants the machine, and this process's counts, for itself.
#[test]
fn limits() {
    every_figure_is_there_or_its_reason();
    one_cpu_has_no_figures_of_two();
    refused(&[libc::SYS_sched_setaffinity], "sched_setaffinity was refused");
    refused(&[libc::SYS_clone, libc::SYS_clone3], "starting a thread was refused");
}

fn every_figure_is_there_or_its_reason() {
    let state = || (Topology::read().unwrap(), count("task"), count("fd"));
    let before = state();
    let limits = measured();
    // The kernel lists a thread for a moment after it has been joined, on a busy machine for longer.
    let end = Instant::now() + Duration::from_secs(60);
    while state() != before && Instant::now() < end {
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(state(), before);
    assert_eq!(limits.copy.iter().map(|one| one.bytes).collect::<Vec<_>>(), [4096, 65_536]);
    let figures = [limits.system_call_ns, limits.switch_ns, limits.futex_wake_ns];
    let absent = figures.iter().filter(|figure| figure.is_none()).count();
    assert!(absent <= limits.missing.len(), "{limits:?}");
    assert!(figures.iter().flatten().all(|&ns| ns > 0.0 && ns.is_finite()), "{limits:?}");
    assert!(limits.copy.iter().all(|one| one.hot_bytes_per_s.is_some_and(|rate| rate > 0)));
}

fn one_cpu_has_no_figures_of_two() {
    let on_one = || {
        pin(Topology::read().unwrap().cpus[0].number).unwrap();
        measured()
    };
    let limits = thread::spawn(on_one).join().unwrap();
    assert_eq!((limits.futex_wake_ns, limits.cacheline.len()), (None, 0));
    assert!(limits.system_call_ns.is_some());
    for name in ["futex_wake_ns", "cacheline"] {
        let because = format!("{name}: placement split needs two CPUs");
        assert!(limits.missing.iter().any(|one| one.starts_with(&because)), "{limits:?}");
    }
}

/// Measures where `calls` are refused: nothing panics or hangs, and the reason is told.
fn refused(calls: &'static [libc::c_long], reason: &str) {
    let topology = Topology::read().unwrap();
    let measured = thread::spawn(move || {
        refuse(calls);
        measure(&topology, &SIZES, Effort::Brief)
    });
    let limits = measured.join().unwrap();
    assert_eq!(limits.switch_ns, None);
    let told = format!("switch_ns: {reason}");
    assert!(limits.missing.iter().any(|one| one.starts_with(&told)), "{limits:?}");
}

/// Has the kernel answer EPERM to `calls` of this thread, and of those it starts, for good.
fn refuse(calls: &[libc::c_long]) {
    let mut filter = filter(calls);
    let program =
        libc::sock_fprog { len: u16::try_from(filter.len()).unwrap(), filter: filter.as_mut_ptr() };
    // SAFETY: both take plain numbers but for `program`, which lives until they have returned and
    // points to as many instructions as it says.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let mode = libc::SECCOMP_MODE_FILTER;
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program), 0);
    }
}

fn filter(calls: &[libc::c_long]) -> Vec<libc::sock_filter> {
    let instruction =
        |code: u32, jt, k| libc::sock_filter { code: u16::try_from(code).unwrap(), jt, jf: 0, k };
    let answer = |k| instruction(libc::BPF_RET | libc::BPF_K, 0, k);
    let number = u32::try_from(offset_of!(libc::seccomp_data, nr)).unwrap();
    let mut filter = vec![instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, number)];
    for (index, &call) in calls.iter().enumerate() {
        // Over the calls that follow and the answer to all others.
        let over = u8::try_from(calls.len() - index).unwrap();
        let call = u32::try_from(call).unwrap();
        filter.push(instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, over, call));
    }
    let eperm = u32::try_from(libc::EPERM).unwrap();
    filter.extend([answer(libc::SECCOMP_RET_ALLOW), answer(libc::SECCOMP_RET_ERRNO | eperm)]);
    filter
}
