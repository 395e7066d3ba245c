//! Part of an [`Endpoint`] that loops over messages use. Unlike [`Endpoint`], it can be a trait object: the loops of paced
//! traffic, where a call through a table costs nothing that matters, are compiled once and not for each mechanism.

use rustix::io::Errno;

use super::{Descriptors, Endpoint};

/// Properties of an end that its type determines. The constants of [`Endpoint`] with the same names explain them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndTraits {
    /// As [`Endpoint::KEEPS_BOUNDARIES`].
    pub keeps_boundaries: bool,
    /// As [`Endpoint::LOSSY`].
    pub lossy: bool,
    /// As [`Endpoint::BORROWS_SEND_BUFFER`].
    pub borrows_send_buffer: bool,
    /// As [`Endpoint::SENDS_IN_PLACE`].
    pub sends_in_place: bool,
    /// As [`Endpoint::RECEIVES_IN_PLACE`].
    pub receives_in_place: bool,
}

/// One end of a mechanism during the timed region. The functions are those of [`Endpoint`].
pub trait MessageEnd {
    /// Properties of the end. A constant where the type is known.
    fn traits(&self) -> EndTraits;
    /// As [`Endpoint::send`].
    ///
    /// # Errors
    /// As for [`Endpoint::send`], like all functions below.
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno>;
    /// As [`Endpoint::recv`].
    #[allow(clippy::missing_errors_doc, reason = "see the first function")]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno>;
    /// As [`Endpoint::loan`].
    #[allow(clippy::missing_errors_doc, reason = "see the first function")]
    fn loan(&mut self, bytes: usize) -> Result<(), Errno>;
    /// As [`Endpoint::loaned`].
    fn loaned(&mut self) -> &mut [u8];
    /// As [`Endpoint::send_loan`].
    #[allow(clippy::missing_errors_doc, reason = "see the first function")]
    fn send_loan(&mut self) -> Result<(), Errno>;
    /// As [`Endpoint::take`].
    #[allow(clippy::missing_errors_doc, reason = "see the first function")]
    fn take(&mut self) -> Result<usize, Errno>;
    /// As [`Endpoint::taken`].
    fn taken(&self) -> &[u8];
    /// As [`Endpoint::release`].
    #[allow(clippy::missing_errors_doc, reason = "see the first function")]
    fn release(&mut self) -> Result<(), Errno>;
    /// As [`Endpoint::send_taken`].
    #[allow(clippy::missing_errors_doc, reason = "see the first function")]
    fn send_taken(&mut self) -> Result<(), Errno>;
    /// As [`Endpoint::flush`].
    #[allow(clippy::missing_errors_doc, reason = "see the first function")]
    fn flush(&mut self) -> Result<(), Errno>;
    /// As [`Endpoint::drain`].
    fn drain(&mut self);
    /// As [`Endpoint::is_ready`].
    fn is_ready(&mut self) -> Option<bool>;
    /// As [`Endpoint::descriptors`].
    fn descriptors(&self) -> Option<Descriptors<'_>>;
}

/// Forwards to the function of [`Endpoint`] with the same name.
macro_rules! forward {
    ($(fn $name:ident(&self) -> $result:ty;)* $(mut fn $mutable:ident(&mut self $(, $argument:ident: $type:ty)?) -> $returned:ty;)*) => {
        $(#[inline(always)]
        fn $name(&self) -> $result {
            Endpoint::$name(self)
        })*
        $(#[inline(always)]
        fn $mutable(&mut self $(, $argument: $type)?) -> $returned {
            Endpoint::$mutable(self $(, $argument)?)
        })*
    };
}

impl<E: Endpoint> MessageEnd for E {
    #[inline(always)]
    fn traits(&self) -> EndTraits {
        EndTraits {
            keeps_boundaries: E::KEEPS_BOUNDARIES,
            lossy: E::LOSSY,
            borrows_send_buffer: E::BORROWS_SEND_BUFFER,
            sends_in_place: E::SENDS_IN_PLACE,
            receives_in_place: E::RECEIVES_IN_PLACE,
        }
    }

    forward! {
        fn taken(&self) -> &[u8];
        fn descriptors(&self) -> Option<Descriptors<'_>>;
        mut fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno>;
        mut fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno>;
        mut fn loan(&mut self, bytes: usize) -> Result<(), Errno>;
        mut fn loaned(&mut self) -> &mut [u8];
        mut fn send_loan(&mut self) -> Result<(), Errno>;
        mut fn take(&mut self) -> Result<usize, Errno>;
        mut fn release(&mut self) -> Result<(), Errno>;
        mut fn send_taken(&mut self) -> Result<(), Errno>;
        mut fn flush(&mut self) -> Result<(), Errno>;
        mut fn is_ready(&mut self) -> Option<bool>;
        mut fn drain(&mut self) -> ();
    }
}
