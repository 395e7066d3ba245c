//! Table that assigns functions to groups.
//!
//! The names are those of Linux 5.x to 6.18 on x86-64 and arm64, of glibc, of musl and of Rust's allocator. A
//! function belongs to a group for its own work; the functions that it calls have their own samples. A `*` matches
//! any letters. The first matching line decides.

use super::row::{Group, Space};

/// Symbol of a nameless function that was detected as copying.
pub const INFERRED_COPIES: &str = "[kernel: copying]";

/// Name patterns of one group in one space.
struct GroupPatterns {
    space: Space,
    group: Group,
    names: &'static [&'static str],
}

const PATTERNS: [GroupPatterns; 12] = [
    // arch/x86/lib/copy_user_64.S and memcpy_64.S, arch/arm64/lib, lib/iov_iter.c, lib/usercopy.c,
    // net/core/datagram.c. The names are listed individually because copy_process and copy_page_range belong to
    // fork.
    GroupPatterns {
        space: Space::Kernel,
        group: Group::Copying,
        names: &[
            "rep_movs_alternative",
            "copy_user_*",
            "__copy_user_*",
            "raw_copy_*",
            "_copy_to_*",
            "_copy_from_*",
            "copy_to_user*",
            "copy_from_user*",
            "copy_page_to_iter*",
            "copy_page_from_iter*",
            "copy_folio_*",
            "copyin",
            "copyout",
            "simple_copy_to_iter",
            "copy_page",
            "copy_page_regs",
            "copy_highpage",
            "copy_mc_*",
            "__arch_copy_*",
            "__pi_copy_page",
            "__pi_memcpy*",
            "__pi_memmove*",
            "memcpy*",
            "__memcpy*",
            "memmove*",
            "__memmove*",
            "skb_copy_*",
            "__skb_datagram_iter",
            "csum_partial_copy_*",
            "csum_and_copy_*",
            INFERRED_COPIES,
        ],
    },
    GroupPatterns {
        space: Space::User,
        group: Group::Copying,
        names: &["memcpy*", "__memcpy*", "memmove*", "__memmove*", "mempcpy*", "__mempcpy*"],
    },
    // kernel/locking, kernel/futex, net/core/sock.c. Before scheduling, because the locks of run queues are locks.
    GroupPatterns {
        space: Space::Kernel,
        group: Group::Locking,
        names: &[
            "*spin_lock*",
            "*spin_unlock*",
            "*spin_trylock*",
            "*read_lock*",
            "*read_unlock*",
            "*write_lock*",
            "*write_unlock*",
            "queued_*",
            "mutex_*",
            "__mutex_*",
            "rwsem_*",
            "down",
            "down_*",
            "up",
            "up_*",
            "__down_*",
            "__up_*",
            "osq_*",
            "futex_*",
            "__futex_*",
            "do_futex",
            "get_futex_*",
            "lock_sock*",
            "release_sock",
            "__lock_sock*",
            "*_rq_lock*",
            "*_rq_unlock*",
            "*local_lock*",
            "unix_state_*lock*",
            "pipe_lock",
            "pipe_unlock",
        ],
    },
    GroupPatterns {
        space: Space::User,
        group: Group::Locking,
        names: &[
            "pthread_mutex_*",
            "__pthread_mutex_*",
            "___pthread_mutex_*",
            "pthread_cond_*",
            "__pthread_cond_*",
            "___pthread_cond_*",
            "pthread_rwlock_*",
            "__lll_*",
            "*futex::Mutex::lock*",
            "*futex::Condvar*",
        ],
    },
    // kernel/sched, kernel/entry, and switch_to of each architecture.
    GroupPatterns {
        space: Space::Kernel,
        group: Group::Scheduling,
        names: &[
            "schedule",
            "schedule_*",
            "__schedule",
            "preempt_schedule*",
            "io_schedule*",
            "sched_*",
            "__sched_*",
            "pick_*",
            "__pick_*",
            "put_prev_*",
            "set_next_*",
            "enqueue_*",
            "__enqueue_*",
            "dequeue_*",
            "__dequeue_*",
            "activate_task",
            "deactivate_task",
            "try_to_wake_up",
            "try_to_block_task*",
            "ttwu_*",
            "wake_up_*",
            "__wake_up*",
            "wake_q_*",
            "default_wake_function",
            "autoremove_wake_function",
            "woken_wake_function",
            "finish_task_switch*",
            "finish_wait",
            "prepare_to_wait*",
            "prepare_task_switch*",
            "init_wait*",
            "add_wait_queue*",
            "remove_wait_queue*",
            "context_switch",
            "switch_mm*",
            "switch_fpu*",
            "__switch_to*",
            "cpu_switch_to",
            "update_curr*",
            "update_rq_clock*",
            "update_load_avg*",
            "__update_load_avg*",
            "update_cfs_*",
            "update_se",
            "update_min_vruntime",
            "update_entity_lag",
            "select_task_rq*",
            "select_idle_*",
            "available_idle_cpu",
            "check_preempt_*",
            "wakeup_preempt*",
            "check_cfs_rq_*",
            "resched_curr*",
            "__resched_curr*",
            "reweight_*",
            "place_entity",
            "avg_vruntime",
            "entity_eligible",
            "vruntime_eligible",
            "set_task_cpu",
            "migrate_task_rq*",
            "task_tick_*",
            "scheduler_tick",
            "yield_task*",
            "do_sched_yield",
            "newidle_balance",
            "sched_balance_*",
            "load_balance",
            "rebalance_domains",
            "dl_server_*",
            "psi_*",
            "cpuacct_*",
            "rb_insert_color*",
            "rb_erase*",
            "smp_send_reschedule",
            "native_smp_send_reschedule",
            "__smp_call_single_queue",
        ],
    },
    // mm/page_alloc.c, mm/slub.c, mm/memcontrol.c, net/core/skbuff.c, and the pages of pipes. Clearing a page is
    // part of its allocation.
    GroupPatterns {
        space: Space::Kernel,
        group: Group::Allocation,
        names: &[
            "alloc_pages*",
            "__alloc_pages*",
            "alloc_frozen_pages*",
            "__alloc_frozen_pages*",
            "get_page_from_freelist",
            "rmqueue*",
            "__rmqueue*",
            "prep_new_page",
            "policy_node*",
            "free_pages*",
            "__free_pages*",
            "free_unref_*",
            "free_frozen_*",
            "__free_frozen_*",
            "free_pcppages*",
            "free_the_page",
            "__free_one_page",
            "decay_pcp_*",
            "nr_pcp_*",
            "put_page*",
            "__put_page*",
            "__folio_put*",
            "folios_put*",
            "release_pages",
            "clear_page*",
            "__pi_clear_page",
            "clear_highpage*",
            "kmem_cache_*",
            "kmalloc*",
            "__kmalloc*",
            "kfree",
            "kfree_*",
            "kvfree*",
            "kvmalloc*",
            "__kvmalloc*",
            "vmalloc*",
            "__vmalloc*",
            "vfree*",
            "slab_*",
            "__slab_*",
            "___slab_*",
            "new_slab",
            "allocate_slab",
            "get_partial*",
            "refill_*stock*",
            "drain_*stock*",
            "consume_stock*",
            "try_charge*",
            "charge_memcg",
            "uncharge_*",
            "page_counter_*",
            "memcg1_*",
            "__mem_cgroup_*",
            "mem_cgroup_*",
            "*rstat_updated*",
            "__memcg_*",
            "memcg_*",
            "mod_memcg_*",
            "__mod_memcg_*",
            "obj_cgroup_*",
            "__alloc_skb",
            "alloc_skb*",
            "sock_alloc_send_*",
            "skb_page_frag_*",
            "sk_page_frag_*",
            "__kfree_skb",
            "consume_skb",
            "skb_release_*",
            "skb_free_*",
            "sock_wfree",
            "sock_rfree",
            "unix_destruct_*",
            "anon_pipe_get_page",
            "anon_pipe_put_page",
            "anon_pipe_buf_release",
        ],
    },
    GroupPatterns {
        space: Space::User,
        group: Group::Allocation,
        names: &[
            "malloc*",
            "__libc_malloc*",
            "free",
            "cfree*",
            "__libc_free*",
            "calloc*",
            "__libc_calloc*",
            "realloc*",
            "__libc_realloc*",
            "_int_malloc*",
            "_int_free*",
            "_int_realloc*",
            "tcache_*",
            "unlink_chunk*",
            "sysmalloc",
            "__rust_*alloc*",
            "__rdl_*",
            "alloc::alloc::*",
            "operator new*",
            "operator delete*",
        ],
    },
    // arch/x86/entry, arch/arm64/kernel/entry.S and syscall.c, include/linux/entry-common.h, fs/file.c: the path of
    // every system call, including its speculation mitigations.
    GroupPatterns {
        space: Space::Kernel,
        group: Group::EntryExit,
        names: &[
            "entry_SYSCALL_64*",
            "entry_SYSRETQ*",
            "entry_INT80*",
            "entry_untrain_ret",
            "entry_ibpb",
            "write_ibpb",
            "clear_bhb_loop*",
            "srso_*",
            "retbleed_*",
            "syscall_*",
            "do_syscall_64",
            "do_syscall_x64",
            "x64_sys_call",
            "__x64_sys_*",
            "__do_sys_*",
            "__se_sys_*",
            "__arm64_sys_*",
            "ksys_*",
            "do_trace_*",
            "exit_to_user_mode*",
            "enter_from_user_mode*",
            "irqentry_*",
            "fpregs_assert_*",
            "switch_fpu_return",
            "fdget*",
            "__fdget*",
            "fget*",
            "__fget*",
            "fput*",
            "____fput",
            "el0_svc*",
            "do_el0_svc*",
            "el0t_64_sync*",
            "invoke_syscall*",
            "el0_svc_common*",
            "ret_to_user*",
            "do_notify_resume",
            "vectors",
            "tramp_*",
            "__bhb_*",
        ],
    },
    // Wrappers of a library around the instruction that enters the kernel.
    GroupPatterns {
        space: Space::User,
        group: Group::EntryExit,
        names: &[
            "syscall",
            "__syscall*",
            "syscall_cp*",
            "__libc_read*",
            "__libc_write*",
            "__libc_send*",
            "__libc_recv*",
            "__GI___libc_*",
        ],
    },
    GroupPatterns {
        space: Space::User,
        group: Group::EntryExit,
        names: &[
            "read",
            "__read",
            "write",
            "__write",
            "readv",
            "writev",
            "pread*",
            "pwrite*",
            "send",
            "__send",
            "recv",
            "__recv",
            "sendto",
            "recvfrom",
            "sendmsg",
            "recvmsg",
            "poll",
            "ppoll",
            "epoll_wait",
            "epoll_pwait*",
            "semop",
            "semtimedop",
            "msgsnd",
            "msgrcv",
            "mq_*send",
            "mq_*receive",
            "splice",
            "vmsplice",
            "sched_yield",
            "process_vm_*",
        ],
    },
    // Bracketed names stand for functions whose names the kernel hides or does not have.
    GroupPatterns { space: Space::Kernel, group: Group::Unresolved, names: &["[*]"] },
    GroupPatterns { space: Space::Kernel, group: Group::Other, names: &["*"] },
];

/// Functions in which the kernel enables interrupts again, or leaves an idle CPU. A timer interrupt that was held
/// off is taken there.
const INTERRUPT_ENABLING: [&str; 16] = [
    "finish_task_switch*",
    "_raw_spin_unlock_irqrestore",
    "_raw_spin_unlock_irq",
    "_raw_read_unlock_irq*",
    "_raw_write_unlock_irq*",
    "raw_spin_rq_unlock*",
    "raw_spin_rq_unlock_irq*",
    "do_syscall_64",
    "syscall_enter_from_user_mode*",
    "syscall_exit_to_user_mode*",
    "exit_to_user_mode*",
    "el0_svc",
    "handle_softirqs",
    "__do_softirq",
    "do_softirq*",
    "__local_bh_enable_ip",
];

/// Returns the group of the function called `symbol`.
pub fn group_of(space: Space, symbol: &str) -> Group {
    let name = strip_suffixes(symbol);
    let line = PATTERNS.iter().find(|line| {
        line.space == space && line.names.iter().any(|pattern| is_match(pattern, name))
    });
    line.map_or(Group::Other, |line| line.group)
}

/// Whether a sample at the kernel function `symbol` may have been due earlier.
pub fn is_interrupt_enabling(symbol: &str) -> bool {
    INTERRUPT_ENABLING.iter().any(|pattern| is_match(pattern, strip_suffixes(symbol)))
}

/// Strips the suffixes that compilers and linkers append to a name: `.isra.0`, `.constprop.0`, `@plt`.
fn strip_suffixes(symbol: &str) -> &str {
    let end = symbol.find(['.', '@']).filter(|&at| at > 0).unwrap_or(symbol.len());
    &symbol[..end]
}

/// Whether `name` matches `pattern`.
fn is_match(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, after)) = left.split_once(part) else { return false };
        left = after;
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_letters() {
        assert!(is_match("a*", "a") && is_match("a*", "abc") && !is_match("a*", "ba"));
        assert!(is_match("*lock*", "spin_lock_irq") && !is_match("*lock*", "loc"));
        assert!(is_match("a*b*c", "a1b2c") && !is_match("a*b*c", "a1b2"));
        assert!(is_match("abc", "abc") && !is_match("abc", "abcd"));
    }

    #[test]
    fn functions_are_where_they_belong() {
        let kernel = [
            ("rep_movs_alternative", Group::Copying),
            ("_copy_to_iter", Group::Copying),
            ("copy_page_range", Group::Other),
            ("finish_task_switch.isra.0", Group::Scheduling),
            ("raw_spin_rq_lock_nested", Group::Locking),
            ("mutex_lock", Group::Locking),
            ("update_process_times", Group::Other),
            ("get_page_from_freelist", Group::Allocation),
            ("entry_SYSCALL_64_after_hwframe", Group::EntryExit),
            ("el0_svc", Group::EntryExit),
            ("pipe_read", Group::Other),
            ("[kernel]", Group::Unresolved),
            (INFERRED_COPIES, Group::Copying),
        ];
        for (name, group) in kernel {
            assert_eq!(group_of(Space::Kernel, name), group, "{name}");
        }
        assert_eq!(group_of(Space::User, "__memmove_avx_unaligned_erms"), Group::Copying);
        assert_eq!(group_of(Space::User, "__write"), Group::EntryExit);
        assert_eq!(group_of(Space::User, "[libc.so.6]"), Group::Other);
    }

    #[test]
    fn where_interrupts_come_back_is_known() {
        assert!(is_interrupt_enabling("finish_task_switch.isra.0"));
        assert!(!is_interrupt_enabling("_raw_spin_lock"));
    }
}
