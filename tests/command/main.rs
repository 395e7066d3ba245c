//! The command from outside: exit codes, words, files, signals, and the system calls it makes.

mod interruption;
mod mistakes;
mod names_left;
mod output;
mod results_file;
mod system_calls;
mod unreadable;
mod unwritable;

#[path = "../support/laboratory.rs"]
mod laboratory;
#[path = "../support/processes.rs"]
mod processes;
#[path = "../support/results.rs"]
mod results;
#[path = "../support/skip.rs"]
mod skip;
