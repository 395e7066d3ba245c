//! Converts strace's output, line by line, into the calls of each role in its last phase.

use std::collections::HashMap;

use ipcperf_model::instrument::tool_calls::ToolCallRow;

use super::line::{self, Outcome, TraceEvent, TraceLine};
use crate::tool_syscalls::Tally;
use crate::{MARK, Scope, Targets};

/// Tracks the peers from mark to mark. The calls of a phase are dropped when the next phase begins.
#[derive(Debug)]
pub(super) struct PhaseTracker<'a> {
    targets: &'a Targets,
    /// Owner of each thread, as an index into the peers.
    owners: HashMap<u32, usize>,
    roles: Vec<RoleState>,
    /// Calls in progress, by thread.
    unfinished: HashMap<u32, UnfinishedCall>,
    /// Number of lines read so far. Line numbers serve as times.
    lines: u64,
    unparsed: u64,
}

/// State of a role, inside or outside its marks.
#[derive(Debug, Default)]
struct RoleState {
    marks: u64,
    /// Line at which the current phase began; `None` outside a phase.
    since: Option<u64>,
    /// Number of the last phase, counted from 1.
    phase: u64,
    /// Calls of each thread that belongs to the role, or may turn out to.
    tallies: HashMap<u32, HashMap<String, Tally>>,
}

#[derive(Clone, Copy, Debug)]
struct UnfinishedCall {
    line: u64,
    starts_thread: bool,
}

impl<'a> PhaseTracker<'a> {
    /// Creates the state before the first line. `owners` are the existing threads, each with the index of its peer.
    pub(super) fn new(targets: &'a Targets, owners: HashMap<u32, usize>) -> Self {
        let roles = targets.members.iter().map(|_| RoleState::default()).collect();
        Self { targets, owners, roles, unfinished: HashMap::new(), lines: 0, unparsed: 0 }
    }

    /// Processes the next line.
    pub(super) fn add_line(&mut self, line: &str) {
        self.lines += 1;
        let Some(TraceLine { tid, event }) = line::parse(line) else {
            self.unparsed += u64::from(!line.is_empty());
            return;
        };
        let Some(tid) = tid.or_else(|| self.only_thread()) else {
            self.unparsed += 1;
            return;
        };
        match event {
            TraceEvent::Complete { call, starts_thread, outcome } => {
                let line = self.begin(tid, call);
                self.end(tid, call, UnfinishedCall { line, starts_thread }, outcome);
            }
            TraceEvent::Unfinished { call, starts_thread } => {
                let line = self.begin(tid, call);
                self.unfinished.insert(tid, UnfinishedCall { line, starts_thread });
            }
            TraceEvent::Resumed { call, outcome } => {
                if let Some(begun) = self.unfinished.remove(&tid) {
                    self.end(tid, call, begun, outcome);
                }
            }
            TraceEvent::SignalOrExit => {}
        }
    }

    /// Returns the number of lines in no known form.
    pub(super) fn unparsed_lines(&self) -> u64 {
        self.unparsed
    }

    /// Returns the first peer, if any, whose last phase lacks a mark.
    pub(super) fn first_incomplete_role(&self) -> Option<&'a str> {
        let mut members = self.targets.members.iter().zip(&self.roles);
        let incomplete = members.find(|(member, role)| {
            member.scope != Scope::Daemon && (role.marks == 0 || role.marks % 2 == 1)
        });
        incomplete.map(|(member, _)| member.role.as_str())
    }

    /// Returns the calls of each peer in its last phase.
    pub(super) fn rows(&self) -> Vec<Vec<ToolCallRow>> {
        (0..self.roles.len()).map(|role| self.rows_of(role)).collect()
    }

    fn rows_of(&self, role: usize) -> Vec<ToolCallRow> {
        let mut calls: HashMap<&str, Tally> = HashMap::new();
        for (tid, tallies) in &self.roles[role].tallies {
            if self.owners.get(tid) == Some(&role) {
                for (call, tally) in tallies {
                    calls.entry(call).or_default().merge(tally);
                }
            }
        }
        calls.iter().map(|(call, tally)| tally.to_row(call)).collect()
    }

    fn only_thread(&self) -> Option<u32> {
        match &self.targets.members[..] {
            [only] => Some(only.tid),
            _ => None,
        }
    }

    /// Processes the start of a call and returns its line number.
    fn begin(&mut self, tid: u32, call: &str) -> u64 {
        let is_marker = |member: &crate::Member| member.tid == tid && member.scope != Scope::Daemon;
        if call == MARK
            && let Some(index) = self.targets.members.iter().position(is_marker)
        {
            self.mark(index);
        }
        self.lines
    }

    fn mark(&mut self, index: usize) {
        let role = &mut self.roles[index];
        role.marks += 1;
        let (phase, is_observed) = (role.marks.div_ceil(2), role.marks % 2 == 1);
        role.set_phase(phase, is_observed.then_some(self.lines));
        let is_daemon = |index: usize| self.targets.members[index].scope == Scope::Daemon;
        let (daemons, others): (Vec<_>, Vec<_>) =
            (0..self.roles.len()).partition(|&index| is_daemon(index));
        let is_observed = others.iter().any(|&other| self.roles[other].since.is_some());
        let phase = others.iter().map(|&other| self.roles[other].phase).max().unwrap_or(0);
        for daemon in daemons {
            self.roles[daemon].set_phase(phase, is_observed.then_some(self.lines));
        }
    }

    /// Processes the end of a call. Its owner may not be known yet: the output of a thread can precede the return of
    /// the call that started it.
    fn end(&mut self, tid: u32, call: &str, begun: UnfinishedCall, outcome: Outcome) {
        if begun.starts_thread
            && let Some(&owner) = self.owners.get(&tid)
            && let Some(child) = outcome.returned.and_then(|tid| u32::try_from(tid).ok())
        {
            self.owners.insert(child, owner);
        }
        let owner = self.owners.get(&tid);
        for (index, role) in self.roles.iter_mut().enumerate() {
            if owner.is_none_or(|&owner| owner == index)
                && role.since.is_some_and(|since| begun.line > since)
            {
                role.tally(tid, call).add(outcome.returned, outcome.ns);
            }
        }
    }
}

impl RoleState {
    /// Sets the current phase, and the line since which it is observed.
    fn set_phase(&mut self, phase: u64, since: Option<u64>) {
        if phase != self.phase {
            self.tallies.clear();
        }
        self.phase = phase;
        self.since = since.map(|since| self.since.unwrap_or(since));
    }

    fn tally(&mut self, tid: u32, call: &str) -> &mut Tally {
        self.tallies.entry(tid).or_default().entry(call.to_owned()).or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Member;

    fn member(role: &str, tid: u32, scope: Scope) -> Member {
        Member { role: role.to_owned(), pid: tid, tid, scope }
    }

    fn alone(scope: Scope) -> Targets {
        Targets::new(vec![member("both", 16_259, scope)])
    }

    /// Returns the calls of each of `targets` in its last phase and their counts. `owners` are the threads, each with
    /// its peer.
    fn counts(targets: &Targets, owners: &[(u32, usize)], lines: &str) -> Vec<Vec<(String, u64)>> {
        let mut phases = PhaseTracker::new(targets, owners.iter().copied().collect());
        lines.lines().for_each(|line| phases.add_line(line));
        assert_eq!((phases.unparsed_lines(), phases.first_incomplete_role()), (0, None));
        let named = |row: ToolCallRow| (row.syscall, row.count);
        let rows = phases.rows().into_iter().map(|rows| rows.into_iter().map(named).collect());
        rows.map(|mut rows: Vec<_>| {
            rows.sort();
            rows
        })
        .collect()
    }

    fn owned(counts: &[(&str, u64)]) -> Vec<(String, u64)> {
        counts.iter().map(|&(call, count)| (call.to_owned(), count)).collect()
    }

    #[test]
    fn only_the_last_phase_counts_and_only_what_lies_within() {
        let lines = "\
16259 read(0, 0x7fffae70561f, 0x1)      = 0x1 <0.490677966>
16259 getrusage(0x1, 0x7fffae705500)    = 0 <0.000005040>
16259 write(0x4, 0x7fffae7055b0, 0x64)  = 0x64 <0.000006294>
16259 write(0x4, 0x7fffae7055b0, 0x64)  = 0x64 <0.000004179>
16259 fsync(0x4)  = 0 <0.000004179>
16259 getrusage(0x1, 0x7fffae705500)    = 0 <0.000003745>
16259 clock_nanosleep(0, 0, 0x7fffae705570, 0) = 0 <0.003124504>
16259 getrusage(0x1, 0x7fffae705500)    = 0 <0.000005040>
16259 write(0x4, 0x7fffae7055b0, 0x64)  = 0x64 <0.000006294>
16259 write(0xffffffff, 0x7fffae7055b0, 0x1) = -1 EBADF (Bad file descriptor) <0.000003870>
16259 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=18277, si_uid=0, si_status=0} ---
16259 write(0x4, 0x7fffae7055b0, 0x64)  = 0x64 <0.000006294>
16259 getrusage(0x1, 0x7fffae705500)    = 0 <0.000003745>
16259 exit_group(0)                     = ?
16259 +++ exited with 0 +++
";
        let counted = counts(&alone(Scope::Thread), &[(16_259, 0)], lines);
        assert_eq!(counted, [owned(&[("write", 3)])]);
    }

    /// The new thread appears before the call that started it returns, and lives on into the phase. The forked process
    /// does not belong to the role.
    #[test]
    fn new_threads_are_their_processs_and_new_processes_are_not() {
        let lines = "\
16259 getrusage(0x1, 0x7fffae705500)    = 0 <0.000005040>
16259 clone3({flags=CLONE_VM|CLONE_SIGHAND|CLONE_THREAD, stack_size=0x7fff80} <unfinished ...>
16271 rseq(0x7f35c62bffe0, 0x20, 0, 0x53053053) = 0 <0.000050520>
16259 <... clone3 resumed> => {parent_tid=[16271]}, 88) = 16271 <0.000034605>
16271 read(0x3, 0x7f35c62bdec0, 0x1000 <unfinished ...>
16259 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD) = 16272 <0.000112706>
16272 set_robust_list(0x7f35c62c0a20, 0x18) = 0 <0.000041413>
16271 <... read resumed>)               = 0x1f4 <0.000049149>
16272 write(0x3, 0x7f35c62bdec0, 0x1000 <unfinished ...>
16259 getrusage(0x1, 0x7fffae705500 <unfinished ...>
16272 <... write resumed>)              = 0x1000 <0.000049149>
16259 <... getrusage resumed>)          = 0 <0.000003745>
";
        let counted = counts(&alone(Scope::Process), &[(16_259, 0)], lines);
        assert_eq!(counted, [owned(&[("clone", 1), ("clone3", 1), ("read", 1), ("rseq", 1)])]);
    }

    #[test]
    fn a_call_that_a_mark_interrupts_is_in_no_phase() {
        let lines = "\
7 read(0x3, 0x7f35c62bdec0, 0x1000 <unfinished ...>
16259 getrusage(0x1, 0x7fffae705500)    = 0 <0.000005040>
7 <... read resumed>)               = 0x1f4 <0.000049149>
7 read(0x3, 0x7f35c62bdec0, 0x1000)               = 0x1f4 <0.000049149>
7 read(0x3, 0x7f35c62bdec0, 0x1000 <unfinished ...>
16259 getrusage(0x1, 0x7fffae705500)    = 0 <0.000005040>
7 <... read resumed>)               = 0x1f4 <0.000049149>
";
        let counted = counts(&alone(Scope::Process), &[(16_259, 0), (7, 0)], lines);
        assert_eq!(counted, [owned(&[("read", 1)])]);
    }

    #[test]
    fn a_daemon_is_watched_while_any_party_is_at_it() {
        let phase = |calls: &str| {
            format!(
                "9 poll(0x3, 0x7, 0x10)              = 0x1 <0.000049149>
1 getrusage(0x1, 0x7f)    = 0 <0.000005040>
9 {calls}(0x3, 0x7, 0x10)              = 0x10 <0.000049149>
9 {calls}(0x3, 0x7, 0x10 <unfinished ...>
2 getrusage(0x1, 0x7f)    = 0 <0.000005040>
9 <... {calls} resumed>)              = 0x10 <0.000049149>
1 getrusage(0x1, 0x7f)    = 0 <0.000005040>
9 {calls}(0x3, 0x7, 0x10)              = 0x10 <0.000049149>
2 getrusage(0x1, 0x7f)    = 0 <0.000005040>
9 poll(0x3, 0x7, 0x10)              = 0x1 <0.000049149>
"
            )
        };
        let members = vec![
            member("sender", 1, Scope::Thread),
            member("broker", 9, Scope::Daemon),
            member("receiver", 2, Scope::Thread),
        ];
        let owners = [(1, 0), (9, 1), (2, 2)];
        let lines = phase("read") + &phase("write");
        let counted = counts(&Targets::new(members), &owners, &lines);
        assert_eq!(counted, [owned(&[]), owned(&[("write", 3)]), owned(&[])]);
    }

    #[test]
    fn what_cannot_be_read_is_counted() {
        let targets = alone(Scope::Thread);
        let mut phases = PhaseTracker::new(&targets, HashMap::from([(16_259, 0)]));
        for line in
            ["16259 write(0x4, 0x7ff", "what?", "", "16259 getrusage(0x1, 0x7f) = 0 <0.000005>"]
        {
            phases.add_line(line);
        }
        assert_eq!((phases.unparsed_lines(), phases.first_incomplete_role()), (2, Some("both")));
    }

    proptest! {
        #[test]
        fn lines_in_any_order_are_survived(lines in proptest::collection::vec(
            (1_u32..4, prop_oneof![
                Just("getrusage(0x1, 0x7f) = 0 <0.000005>"), Just("getrusage(0x1 <unfinished ...>"),
                Just("<... getrusage resumed>) = 0 <0.000001>"), Just("read(0x3 <unfinished ...>"),
                Just("<... read resumed>) = 0x10 <0.000001>"), Just("write(0x3) = 0x10 <0.000001>"),
                Just("clone3({flags=CLONE_THREAD}) = 3"), Just("+++ exited with 0 +++"), Just("write(0x3"),
            ]),
            0..60,
        )) {
            let members = vec![member("sender", 1, Scope::Process), member("broker", 2, Scope::Daemon)];
            let targets = Targets::new(members);
            let mut phases = PhaseTracker::new(&targets, HashMap::from([(1, 0), (2, 1)]));
            for (tid, line) in &lines {
                phases.add_line(&format!("{tid} {line}"));
            }
            let calls = phases.rows().into_iter().flatten().map(|row| row.count).sum::<u64>();
            prop_assert!(calls <= lines.len() as u64);
        }
    }
}
