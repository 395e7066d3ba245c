//! Reads the environment: all topics together.

use ipcperf_model::environment::{Environment, Program};

use super::{
    clock, confinement, control_group, cpus, kernel, kernel_limits, load, memory, network, power,
    process_limits, scheduler, virtualization,
};

/// Returns the environment to store with the results of `program`.
pub fn environment(program: Program) -> Environment {
    Environment {
        program,
        kernel: kernel::read(),
        cpus: cpus::read(),
        power: power::read(),
        virtualization: virtualization::read(),
        clock: clock::read(),
        memory: memory::read(),
        load: load::read(),
        scheduler: scheduler::read(),
        kernel_limits: kernel_limits::read(),
        network: network::read(),
        process_limits: process_limits::read(),
        control_group: control_group::read(),
        confinement: confinement::read(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_survives_writing_and_reading() {
        let environment = environment(Program::default());
        let text = serde_json::to_string(&environment).unwrap();
        assert_eq!(serde_json::from_str::<Environment>(&text).unwrap(), environment);
    }
}
