//! The policy that a dbus-broker is given: everyone may do everything.
//!
//! Its type is that of `policy_export` in `src/launch/policy.c` and `policy_type` in
//! `src/bus/policy.c` of dbus-broker, from version 32 on.

/// What applies from which rule on: whether it is allowed, and how much that weighs.
type Verdict = (bool, u64);
/// A rule for names: verdict, whether it is for a prefix, the name.
type Own = (bool, u64, bool, &'static str);
/// A rule for messages: verdict; name, path, interface, member; type, broadcast; least and most
/// descriptors. Empty and 0 mean any.
type Message =
    (bool, u64, &'static str, &'static str, &'static str, &'static str, u32, u32, u64, u64);
/// Whether one may connect; then the rules for owning names, for sending, for receiving.
type Batch = (bool, u64, Vec<Own>, Vec<Message>, Vec<Message>);
/// Rules by user, by group and range of users, labels of names, whether AppArmor is asked, and what
/// the bus is called there.
pub(super) type Policy = (
    Vec<(u32, Batch)>,
    Vec<(bool, u32, u32, Batch)>,
    Vec<(&'static str, &'static str)>,
    bool,
    &'static str,
);

/// The number of the user that stands for all that no rule names.
const ANYONE: u32 = u32::MAX;

pub(super) fn allow_all() -> Policy {
    let (allowed, weight): Verdict = (true, 1);
    let message = (allowed, weight, "", "", "", "", 0, 0, 0, u64::MAX);
    let own = (allowed, weight, true, "");
    let batch = (allowed, weight, vec![own], vec![message], vec![message]);
    (vec![(ANYONE, batch)], Vec::new(), Vec::new(), false, "session")
}

#[cfg(test)]
mod tests {
    use zbus::zvariant::Type;

    use super::*;

    #[test]
    fn its_type_is_what_the_broker_reads() {
        let batch = "(bta(btbs)a(btssssuutt)a(btssssuutt))";
        let policy = format!("(a(u{batch})a(buu{batch})a(ss)bs)");
        assert_eq!(Policy::SIGNATURE.to_string(), policy);
    }
}
