//! Tests of the command from outside: exit codes, messages, files, signals and system calls.

mod architecture;
mod broken_studies;
mod builds;
mod container;
mod counted;
mod custom_mechanisms;
mod dbus;
mod doctor;
mod escapes;
mod export;
mod file_capabilities;
mod first_touch;
mod full_disk;
mod interruption;
mod journal;
mod killed_commands;
mod lost_lines;
mod machine;
mod mistakes;
mod names_left;
mod outliving;
mod output;
mod own_libraries;
mod own_programs;
mod own_results;
mod policing;
mod programs;
mod replaced;
mod report;
mod resource_limits;
mod results_file;
mod resume;
mod setting;
mod shells;
mod strangers;
mod study;
mod system_calls;
mod unreadable;
mod until_ci;
mod until_decided;
mod unwatched_cells;
mod unwritable;
mod watched;
mod whole;

#[path = "../support/carried.rs"]
mod carried;
#[path = "../support/laboratory.rs"]
mod laboratory;
#[path = "../support/own.rs"]
mod own;
#[path = "../support/processes.rs"]
mod processes;
#[path = "../support/results.rs"]
mod results;
#[path = "../support/skip.rs"]
mod skip;
