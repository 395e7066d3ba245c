//! Borrowed pages: safe if enough buffers are used in rotation or the reader is waited for; otherwise corruption is
//! detected.

use crate::results::ResultsFile;
use crate::sandbox::Sandbox;

/// The verification must detect the corruption that borrowing can cause; otherwise it would prove nothing.
#[test]
fn too_few_buffers_corrupt_messages() {
    for (rotation, bytes) in [(1, 65_536), (1, 16_384), (2, 16_384)] {
        let sandbox = Sandbox::open();
        let arguments = format!(
            "-m pipe-borrow --set pipe-borrow.rotation={rotation} -b {bytes} --total 16MiB \
             --placement same --verify --repetitions 1"
        );
        sandbox.finish(sandbox.measuring(&arguments)).expect(4);
        let file = ResultsFile::read(&sandbox.results());
        assert_eq!(file.failure_kinds(), ["corrupt"; 2], "{rotation} at {bytes}");
    }
}

#[test]
fn waiting_for_the_reader_or_enough_buffers_keep_them_whole() {
    let sandbox = Sandbox::open();
    let arguments = "-m pipe-borrow --set pipe-borrow.reuse=sync,rotate --set pipe-borrow.threshold=32,8192 --set \
         pipe-borrow.capacity=4096,65536,1MiB -b 32,8192,65536,100000 --total 4MB --verify \
         --repetitions 1";
    sandbox.finish(sandbox.measuring(arguments)).expect(0);
}
