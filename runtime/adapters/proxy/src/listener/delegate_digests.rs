//! What a stream around another one only passes on.

/// Implements the traits of Pingora that tell about a stream for one that has another as its field `inner`.
macro_rules! delegate_digests {
    ($stream:ty) => {
        const _: () = {
            use pingora::protocols::raw_connect::ProxyDigest;
            use pingora::protocols::{
                GetProxyDigest, GetSocketDigest, GetTimingDigest, Peek, SocketDigest, TimingDigest, UniqueID,
                UniqueIDType,
            };
            use std::sync::Arc;
            use std::time::Duration;

            impl UniqueID for $stream {
                fn id(&self) -> UniqueIDType {
                    self.inner.id()
                }
            }

            impl Peek for $stream {}

            impl GetTimingDigest for $stream {
                fn get_timing_digest(&self) -> Vec<Option<TimingDigest>> {
                    self.inner.get_timing_digest()
                }

                fn get_read_pending_time(&self) -> Duration {
                    self.inner.get_read_pending_time()
                }

                fn get_write_pending_time(&self) -> Duration {
                    self.inner.get_write_pending_time()
                }
            }

            impl GetProxyDigest for $stream {
                fn get_proxy_digest(&self) -> Option<Arc<ProxyDigest>> {
                    self.inner.get_proxy_digest()
                }
            }

            impl GetSocketDigest for $stream {
                fn get_socket_digest(&self) -> Option<Arc<SocketDigest>> {
                    self.inner.get_socket_digest()
                }
            }
        };
    };
}
