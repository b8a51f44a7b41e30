//! A connection whose other end has to read: one that takes nothing for too long is given up, so that nobody
//! can hold all connections by asking and not reading.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

/// A connection that is given up when nothing could be written for so long.
pub(crate) struct PatientStream {
    stream: TcpStream,
    patience: Duration,
    /// Runs while something waits to be written.
    timer: Pin<Box<Sleep>>,
    is_waiting: bool,
}

impl PatientStream {
    pub(crate) fn new(stream: TcpStream, patience: Duration) -> Self {
        Self {
            stream,
            patience,
            timer: Box::pin(sleep(patience)),
            is_waiting: false,
        }
    }

    /// Passes on what a write came to, unless it has waited for too long.
    fn timed<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.is_waiting = false;
            return written;
        }
        if !self.is_waiting {
            self.is_waiting = true;
            self.timer.as_mut().reset(Instant::now() + self.patience);
        }
        match self.timer.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for PatientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for PatientStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.timed(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.timed(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.timed(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    async fn pair(patience: Duration) -> (PatientStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        let stream = PatientStream::new(accepted.unwrap().0, patience);
        (stream, client.unwrap())
    }

    fn run(work: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(work);
    }

    #[test]
    fn who_reads_nothing_is_given_up() {
        run(async {
            let (mut server, client) = pair(Duration::from_millis(200)).await;
            let failed = server.write_all(&vec![0; 64 << 20]).await.unwrap_err();
            assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
            drop(client);
        });
    }

    #[test]
    fn who_reads_slowly_gets_everything() {
        const BYTES: usize = 24 << 20;
        run(async {
            let (mut server, mut client) = pair(Duration::from_millis(400)).await;
            let writing = tokio::spawn(async move { server.write_all(&vec![7; BYTES]).await });
            let mut buffer = vec![0; 2 << 20];
            let mut read = 0;
            while read < BYTES {
                // Slower than it is written, and never as slow as would be too slow.
                tokio::time::sleep(Duration::from_millis(20)).await;
                read += client.read(&mut buffer).await.unwrap();
            }
            writing.await.unwrap().unwrap();
        });
    }
}
