//! Clients of HTTP/1.0, which has no chunks.

use async_trait::async_trait;
use http::header::TRANSFER_ENCODING;
use http::{Version, request};
use pingora::Result;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::modules::http::{HttpModule, HttpModuleBuilder, Module};
use std::any::Any;

/// Sends the bodies of responses to clients of HTTP/1.0 without chunks, with which Pingora frames
/// the bodies of servers of HTTP/2 after all filters. The guard has decided by then that the
/// connection ends with the response.
#[derive(Default)]
struct WithoutChunks {
    applies: bool,
}

/// Makes a module for each request that removes chunks from responses to clients of HTTP/1.0, which
/// has none: Pingora adds them to bodies of servers of HTTP/2 after
/// [`Guard::response_filter`](crate::Guard::response_filter). Add it in `init_downstream_modules`.
pub struct WithoutChunksBuilder;

impl HttpModuleBuilder for WithoutChunksBuilder {
    fn init(&self) -> Module {
        Box::<WithoutChunks>::default()
    }
}

#[async_trait]
impl HttpModule for WithoutChunks {
    async fn request_header_filter(&mut self, head: &mut RequestHeader) -> Result<()> {
        let head: &request::Parts = head;
        self.applies = head.version < Version::HTTP_11;
        Ok(())
    }

    async fn response_header_filter(&mut self, head: &mut ResponseHeader, _: bool) -> Result<()> {
        if self.applies {
            head.remove_header(&TRANSFER_ENCODING);
        }
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
