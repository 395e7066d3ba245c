//! Names of kernel functions, from `/proc/kallsyms`
//! ([proc_kallsyms(5)](https://man7.org/linux/man-pages/man5/proc_kallsyms.5.html)).

use std::fs;
use std::io::{BufRead, BufReader};

use ipcperf_model::instrument::profile::KernelSymbols;

const KALLSYMS: &str = "/proc/kallsyms";
/// Object name of the kernel image, as other tools spell it.
const KERNEL: &str = "vmlinux";

/// Checks whether kernel symbols are readable: without permission, all addresses read as zero.
pub(super) fn check_readable() -> KernelSymbols {
    let Ok(file) = fs::File::open(KALLSYMS) else { return KernelSymbols::Hidden };
    let mut lines = BufReader::new(file).lines().map_while(Result::ok);
    let is_known = lines.any(|line| !line.starts_with("0000000000000000"));
    if is_known { KernelSymbols::Read } else { KernelSymbols::Hidden }
}

/// Kernel functions by address.
#[derive(Debug, Default)]
pub(super) struct KernelFunctions {
    lines: String,
    /// Sorted start addresses, each with the offset of the name in `lines`.
    starts: Vec<(u64, usize)>,
}

impl KernelFunctions {
    /// Reads the functions of the running kernel.
    pub(super) fn read() -> Self {
        Self::parse(fs::read_to_string(KALLSYMS).unwrap_or_default())
    }

    /// Parses lines such as `ffffffff81000000 T _text`; the module, if any, follows a tab in brackets.
    fn parse(lines: String) -> Self {
        let mut starts: Vec<_> = lines
            .lines()
            .filter_map(|line| parse_line(line, line.as_ptr() as usize - lines.as_ptr() as usize))
            .collect();
        // The sort is stable: the first of several names at one address wins.
        starts.sort_by_key(|start| start.0);
        starts.dedup_by_key(|start| start.0);
        Self { lines, starts }
    }

    /// Returns the function at `address` and its module.
    pub(super) fn find(&self, address: u64) -> Option<(&str, &str)> {
        let after = self.starts.partition_point(|start| start.0 <= address);
        let name = self.starts[after.checked_sub(1)?].1;
        let entry = self.lines[name..].lines().next()?;
        let (name, module) = entry.split_once('\t').unwrap_or((entry, KERNEL));
        Some((name, module.trim_matches(['[', ']'])))
    }
}

/// Returns the address and the offset of the name for `line`, which begins at `offset`; `None` if it is not code.
fn parse_line(line: &str, offset: usize) -> Option<(u64, usize)> {
    let (address, rest) = line.split_once(' ')?;
    let (kind, _) = rest.split_once(' ')?;
    let is_code = matches!(kind, "t" | "T" | "w" | "W");
    let address =
        u64::from_str_radix(address, 16).ok().filter(|&address| is_code && address > 0)?;
    Some((address, offset + line.len() - rest.len() + kind.len() + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_belongs_to_the_function_before_it() {
        let lines = "00000000ffff1000 T _text\n00000000ffff1000 t alias\n00000000ffff3000 t send\t[af_unix]\n\
                     00000000ffff2000 D data\n0000000000000000 T hidden\n";
        let functions = KernelFunctions::parse(lines.to_owned());
        assert_eq!(functions.find(0xffff_1000), Some(("_text", "vmlinux")));
        assert_eq!(functions.find(0xffff_2fff), Some(("_text", "vmlinux")));
        assert_eq!(functions.find(0xffff_3001), Some(("send", "af_unix")));
        assert_eq!(functions.find(0xfff), None);
    }

    #[test]
    fn names_can_be_had_where_they_are_told() {
        let has_some = !KernelFunctions::read().starts.is_empty();
        assert_eq!(has_some, check_readable() == KernelSymbols::Read);
    }
}
