//! The policy given to a dbus-broker: everyone may do everything.
//!
//! Its type is that of `policy_export` in `src/launch/policy.c` and `policy_type` in `src/bus/policy.c` of
//! dbus-broker, version 32 and later.

/// Verdict of a rule: whether it allows, and its priority.
type Verdict = (bool, u64);
/// Rule for owning names: verdict, whether the name is a prefix, name.
type OwnRule = (bool, u64, bool, &'static str);
/// Rule for messages: verdict; name, path, interface, member; type, broadcast; minimum and maximum number of
/// descriptors. Empty strings and 0 match anything.
type MessageRule =
    (bool, u64, &'static str, &'static str, &'static str, &'static str, u32, u32, u64, u64);
/// Rules of a batch: verdict on connecting; rules for owning names, for sending, for receiving.
type Batch = (bool, u64, Vec<OwnRule>, Vec<MessageRule>, Vec<MessageRule>);
/// Rules by user, rules by range of users or groups, labels of names, whether AppArmor is enabled, and the
/// name of the bus there.
pub(super) type Policy = (
    Vec<(u32, Batch)>,
    Vec<(bool, u32, u32, Batch)>,
    Vec<(&'static str, &'static str)>,
    bool,
    &'static str,
);

/// User number that stands for every user without a rule.
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
