//! The library's service between processes, but for one file.
//!
//! `ipc::Service` counts nodes in `/dev/shm`, in a file that the library opens to everybody (mode 0666, by
//! fchmod, which no umask holds back): another user who writes there makes runs fail. The number only tells
//! the nodes of one process apart, as the process and the time are in a node's id too: so it is counted in
//! the process here. All that moves messages is that of `ipc::Service`.

use std::fmt::Debug;

use iceoryx2::prelude::{ZeroCopySend, ipc, local};
use iceoryx2::service::Service;
use iceoryx2::service::internal::ServiceInternal;
use iceoryx2_bb_elementary_traits::testing::abandonable::Abandonable;

/// Services whose files are their owner's alone.
#[derive(Clone, Debug)]
pub(crate) struct OwnersService;

impl Service for OwnersService {
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

impl ServiceInternal<Self> for OwnersService {}
