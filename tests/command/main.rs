//! Tests of the command from outside: exit codes, messages, files, signals and system calls.

mod architecture;
mod broken_studies;
mod builds;
mod caller_environment;
mod compat;
mod complete_file;
mod container;
mod counters;
mod custom_libraries;
mod custom_mechanisms;
mod custom_programs;
mod custom_results;
mod dbus;
mod doctor;
mod escaped_processes;
mod escapes;
mod export;
mod features;
mod file_capabilities;
mod first_touch;
mod full_disk;
mod instrumented;
mod interruption;
mod journal;
mod killed_commands;
mod knee;
mod leftover_names;
mod list;
mod lost_lines;
mod machine;
mod message_sizes;
mod missing_instruments;
mod mistakes;
mod noise_detection;
mod other_users;
mod output;
mod paced;
mod peers;
mod programs;
mod replaced;
mod report;
mod resource_limits;
mod results_file;
mod resume;
mod shells;
mod slow_messages;
mod study;
mod system_calls;
mod trace_screen;
mod unreadable;
mod until_ci;
mod until_decided;
mod unwritable;

#[path = "../support/available.rs"]
mod available;
#[path = "../support/custom.rs"]
mod custom;
#[path = "../support/max_message.rs"]
mod max_message;
#[path = "../support/processes.rs"]
mod processes;
#[path = "../support/results.rs"]
mod results;
#[path = "../support/sandbox.rs"]
mod sandbox;
#[path = "../support/skip.rs"]
mod skip;
mod waiting;
