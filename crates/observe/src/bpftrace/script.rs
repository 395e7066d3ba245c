//! The bpftrace script: what an experienced user would write.
//!
//! Its maps cannot be cleared cheaply when a phase begins. So every count has the number of marks so far as part of its
//! key. That number is odd within a phase, and only the last phase is read.

use crate::{Member, Parties, Scope};

/// Text that the script prints once both probes have seen the witness thread.
pub(super) const ARMED: &str = "armed";

/// Returns the script for `parties`. `witness` is a thread of this process whose marks prove that the probes are
/// active.
pub(super) fn script(parties: &Parties, witness: u32) -> String {
    let mark = libc::SYS_getrusage;
    let (filter, who, phase) = (filter(parties, witness), who(parties), phase(parties));
    let marking = marking(parties);
    format!(
        r#"tracepoint:raw_syscalls:sys_enter /{filter}/
{{
  if (tid == {witness}) {{
    if (args->id == {mark}) {{ @armed[tid] = 1; }}
  }} else {{
    $who = {who};
    $phase = {phase};
    if (args->id == {mark} && ({marking})) {{ @marks[$who] = @marks[$who] + 1; }}
    else if ($phase & 1) {{ @start[tid, $phase] = nsecs; }}
  }}
}}
tracepoint:raw_syscalls:sys_exit /{filter}/
{{
  if (tid == {witness}) {{
    if (@armed[tid] == 1) {{ printf("{ARMED}\n"); @armed[tid] = 2; }}
  }} else {{
    $who = {who};
    $phase = {phase};
    $start = @start[tid, $phase];
    if ($start != 0) {{
      $ns = nsecs - $start;
      @ns[$who, $phase, args->id] = stats($ns);
      @quantised[$who, $phase, args->id] = hist($ns);
      if (args->ret < 0) {{ @errors[$who, $phase, args->id] = count(); }}
      else {{ @returned[$who, $phase, args->id] = sum(args->ret); }}
      delete(@start[tid, $phase]);
    }}
  }}
}}
"#
    )
}

/// Returns the ID under which `member` is counted.
pub(super) fn number(member: &Member) -> u32 {
    if member.scope == Scope::Thread { member.tid } else { member.pid }
}

fn filter(parties: &Parties, witness: u32) -> String {
    let of = |member: &Member| match member.scope {
        Scope::Thread => format!("tid == {}", member.tid),
        Scope::Process | Scope::Daemon => format!("pid == {}", member.pid),
    };
    let members = parties.members.iter().map(of);
    members.chain([format!("tid == {witness}")]).collect::<Vec<_>>().join(" || ")
}

/// Returns the expression for the ID of the caller.
fn who(parties: &Parties) -> String {
    let is_thread = |member: &&Member| member.scope == Scope::Thread;
    let threads: Vec<String> = parties
        .members
        .iter()
        .filter(is_thread)
        .map(|member| format!("tid == {}", member.tid))
        .collect();
    match threads.len() {
        0 => "pid".to_owned(),
        all if all == parties.members.len() => "tid".to_owned(),
        _ => format!("({}) ? tid : pid", threads.join(" || ")),
    }
}

/// Returns the expression for the caller's phase: odd inside a phase, even outside. A daemon is in the phase of the
/// peers, each of which has made two marks for each completed phase.
fn phase(parties: &Parties) -> String {
    let is_daemon = |member: &&Member| member.scope == Scope::Daemon;
    let (daemons, others): (Vec<_>, Vec<_>) = parties.members.iter().partition(is_daemon);
    if daemons.is_empty() || others.is_empty() {
        return "@marks[$who]".to_owned();
    }
    let marks: Vec<String> =
        others.iter().map(|other| format!("@marks[{}]", number(other))).collect();
    let within: Vec<String> = marks.iter().map(|marks| format!("({marks} & 1)")).collect();
    let daemons: Vec<String> =
        daemons.iter().map(|daemon| format!("$who == {}", daemon.pid)).collect();
    format!(
        "({}) ? ({}) / {} * 2 + ({}) : @marks[$who]",
        daemons.join(" || "),
        marks.join(" + "),
        2 * marks.len(),
        within.join(" | "),
    )
}

/// Returns the condition under which a call of [`crate::MARK`] is a mark: other threads of a process may call it too.
fn marking(parties: &Parties) -> String {
    let others = parties.members.iter().filter(|member| member.scope != Scope::Daemon);
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
        let parties = Parties { members };
        assert_eq!(filter(&parties, 9), "tid == 11 || tid == 12 || tid == 9");
        assert_eq!((who(&parties).as_str(), phase(&parties).as_str()), ("tid", "@marks[$who]"));
        assert_eq!(marking(&parties), "tid == 11 || tid == 12");
    }

    #[test]
    fn processes_are_known_by_theirs_and_marked_by_one_thread() {
        let parties = Parties { members: vec![member(1, 11, Scope::Process)] };
        assert_eq!(filter(&parties, 9), "pid == 1 || tid == 9");
        assert_eq!((who(&parties).as_str(), marking(&parties).as_str()), ("pid", "tid == 11"));
    }

    #[test]
    fn a_daemon_has_the_phases_of_the_parties() {
        let members = vec![
            member(1, 11, Scope::Thread),
            member(2, 2, Scope::Process),
            member(3, 3, Scope::Daemon),
        ];
        let parties = Parties { members };
        assert_eq!(who(&parties), "(tid == 11) ? tid : pid");
        assert_eq!(
            phase(&parties),
            "($who == 3) ? (@marks[11] + @marks[2]) / 4 * 2 + ((@marks[11] & 1) | (@marks[2] & 1)) : @marks[$who]"
        );
        assert_eq!(marking(&parties), "tid == 11 || tid == 2");
    }
}
