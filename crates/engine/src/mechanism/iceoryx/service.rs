//! The library's interprocess service, without its world-writable file.
//!
//! `ipc::Service` counts nodes in `/dev/shm`, in a file that the library makes writable for everyone (mode
//! 0666 by fchmod, which no umask restricts): another user who writes to it makes runs fail. The number only
//! distinguishes the nodes of one process, since a node's ID also contains the process and the time.
//! Therefore it is counted in the process here. Everything that moves messages is that of `ipc::Service`.

use std::fmt::Debug;

use iceoryx2::prelude::{ZeroCopySend, ipc, local};
use iceoryx2::service::Service;
use iceoryx2::service::internal::ServiceInternal;
use iceoryx2_bb_elementary_traits::testing::abandonable::Abandonable;

/// Service whose files only their owner can access.
#[derive(Clone, Debug)]
pub(crate) struct OwnerOnlyService;

impl Service for OwnerOnlyService {
    type PersistentDynamicStorage<T: Debug + Send + Sync + ZeroCopySend + 'static> =
        <local::Service as Service>::PersistentDynamicStorage<T>;

    type ServiceNameHasher = <ipc::Service as Service>::ServiceNameHasher;
    type StaticStorage = <ipc::Service as Service>::StaticStorage;
    type ConfigSerializer = <ipc::Service as Service>::ConfigSerializer;
    type Bag = <ipc::Service as Service>::Bag;
    type DynamicStorage<T: Debug + Send + Sync + ZeroCopySend + 'static> =
        <ipc::Service as Service>::DynamicStorage<T>;
    type SharedMemory = <ipc::Service as Service>::SharedMemory;
    type ResizableSharedMemory = <ipc::Service as Service>::ResizableSharedMemory;
    type Connection = <ipc::Service as Service>::Connection;
    type Event = <ipc::Service as Service>::Event;
    type Monitoring = <ipc::Service as Service>::Monitoring;
    type Reactor = <ipc::Service as Service>::Reactor;
    type ArcThreadSafetyPolicy<T: Send + Debug + Abandonable> =
        <ipc::Service as Service>::ArcThreadSafetyPolicy<T>;
    type BlackboardMgmt<T: Send + Sync + Debug + ZeroCopySend + 'static> =
        <ipc::Service as Service>::BlackboardMgmt<T>;
    type BlackboardPayload = <ipc::Service as Service>::BlackboardPayload;
    type UniqueId = <ipc::Service as Service>::UniqueId;
}

impl ServiceInternal<Self> for OwnerOnlyService {}
