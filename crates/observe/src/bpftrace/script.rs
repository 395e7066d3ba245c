//! The bpftrace script: what an experienced user would write.
//!
//! Its maps cannot be cleared cheaply when a phase begins. So every count has the number of marks so far as part of its
//! key. That number is odd within a phase, and only the last phase is read.

use crate::{Member, Scope, Targets};

/// Text that the script prints once both probes have seen the witness thread.
pub(super) const ARMED: &str = "armed";

/// Returns the script for `peers`. `witness` is a thread of this process whose marks prove that the probes are
/// active.
pub(super) fn script(targets: &Targets, witness: u32) -> String {
    let mark = libc::SYS_getrusage;
    let (filter, who, phase) = (
        filter_expression(targets, witness),
        caller_expression(targets),
        phase_expression(targets),
    );
    let marking = mark_condition(targets);
    format!(
        r#"tracepoint:raw_syscalls:sys_enter /{filter}/
{{
  if (tid == {witness}) {{
    if (args->id == {mark}) {{ @armed[tid] = 1; }}
  }} else {{
    $caller = {who};
    $phase = {phase};
    if (args->id == {mark} && ({marking})) {{ @marks[$caller] = @marks[$caller] + 1; }}
    else if ($phase & 1) {{ @start[tid, $phase] = nsecs; }}
  }}
}}
tracepoint:raw_syscalls:sys_exit /{filter}/
{{
  if (tid == {witness}) {{
    if (@armed[tid] == 1) {{ printf("{ARMED}\n"); @armed[tid] = 2; }}
  }} else {{
    $caller = {who};
    $phase = {phase};
    $start = @start[tid, $phase];
    if ($start != 0) {{
      $ns = nsecs - $start;
      @ns[$caller, $phase, args->id] = stats($ns);
      @log2_ns[$caller, $phase, args->id] = hist($ns);
      if (args->ret < 0) {{ @errors[$caller, $phase, args->id] = count(); }}
      else {{ @returned[$caller, $phase, args->id] = sum(args->ret); }}
      delete(@start[tid, $phase]);
    }}
  }}
}}
"#
    )
}

/// Returns the ID under which `member` is counted.
pub(super) fn caller_id(member: &Member) -> u32 {
    if member.scope == Scope::Thread { member.tid } else { member.pid }
}

fn filter_expression(targets: &Targets, witness: u32) -> String {
    let predicate = |member: &Member| match member.scope {
        Scope::Thread => format!("tid == {}", member.tid),
        Scope::Process | Scope::Daemon => format!("pid == {}", member.pid),
    };
    let members = targets.members.iter().map(predicate);
    members.chain([format!("tid == {witness}")]).collect::<Vec<_>>().join(" || ")
}

/// Returns the expression for the ID of the caller.
fn caller_expression(targets: &Targets) -> String {
    let is_thread = |member: &&Member| member.scope == Scope::Thread;
    let threads: Vec<String> = targets
        .members
        .iter()
        .filter(is_thread)
        .map(|member| format!("tid == {}", member.tid))
        .collect();
    match threads.len() {
        0 => "pid".to_owned(),
        all if all == targets.members.len() => "tid".to_owned(),
        _ => format!("({}) ? tid : pid", threads.join(" || ")),
    }
}

/// Returns the expression for the caller's phase: odd inside a phase, even outside. A daemon is in the phase of the
/// peers, each of which has made two marks for each completed phase.
fn phase_expression(targets: &Targets) -> String {
    let is_daemon = |member: &&Member| member.scope == Scope::Daemon;
    let (daemons, peers): (Vec<_>, Vec<_>) = targets.members.iter().partition(is_daemon);
    if daemons.is_empty() || peers.is_empty() {
        return "@marks[$caller]".to_owned();
    }
    let marks: Vec<String> =
        peers.iter().map(|other| format!("@marks[{}]", caller_id(other))).collect();
    let is_in_phase: Vec<String> = marks.iter().map(|marks| format!("({marks} & 1)")).collect();
    let daemons: Vec<String> =
        daemons.iter().map(|daemon| format!("$caller == {}", daemon.pid)).collect();
    format!(
        "({}) ? ({}) / {} * 2 + ({}) : @marks[$caller]",
        daemons.join(" || "),
        marks.join(" + "),
        2 * marks.len(),
        is_in_phase.join(" | "),
    )
}

/// Returns the condition under which a call of [`crate::MARK`] is a mark: other threads of a process may call it too.
fn mark_condition(targets: &Targets) -> String {
    let others = targets.members.iter().filter(|member| member.scope != Scope::Daemon);
    let markers: Vec<String> = others.map(|member| format!("tid == {}", member.tid)).collect();
    if markers.is_empty() { "0".to_owned() } else { markers.join(" || ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(pid: u32, tid: u32, scope: Scope) -> Member {
        Member { role: "sender".to_owned(), pid, tid, scope }
    }

    #[test]
    fn threads_are_known_by_their_own_numbers() {
        let members = vec![member(1, 11, Scope::Thread), member(1, 12, Scope::Thread)];
        let targets = Targets::new(members);
        assert_eq!(filter_expression(&targets, 9), "tid == 11 || tid == 12 || tid == 9");
        assert_eq!(
            (caller_expression(&targets).as_str(), phase_expression(&targets).as_str()),
            ("tid", "@marks[$caller]")
        );
        assert_eq!(mark_condition(&targets), "tid == 11 || tid == 12");
    }

    #[test]
    fn processes_are_known_by_theirs_and_marked_by_one_thread() {
        let targets = Targets::new(vec![member(1, 11, Scope::Process)]);
        assert_eq!(filter_expression(&targets, 9), "pid == 1 || tid == 9");
        assert_eq!(
            (caller_expression(&targets).as_str(), mark_condition(&targets).as_str()),
            ("pid", "tid == 11")
        );
    }

    #[test]
    fn a_daemon_has_the_phases_of_the_parties() {
        let members = vec![
            member(1, 11, Scope::Thread),
            member(2, 2, Scope::Process),
            member(3, 3, Scope::Daemon),
        ];
        let targets = Targets::new(members);
        assert_eq!(caller_expression(&targets), "(tid == 11) ? tid : pid");
        assert_eq!(
            phase_expression(&targets),
            "($caller == 3) ? (@marks[11] + @marks[2]) / 4 * 2 + ((@marks[11] & 1) | (@marks[2] & 1)) : @marks[$caller]"
        );
        assert_eq!(mark_condition(&targets), "tid == 11 || tid == 2");
    }
}
