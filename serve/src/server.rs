//! The server: connections, limits, and how it ends.

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Response, StatusCode};
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use runtape_store::{Store, StoreError};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use crate::gate::{Gate, VERIFY};
use crate::indexer::IndexThread;
use crate::live::Live;
use crate::opener::{Access, Opener};
use crate::patient_stream::PatientStream;
use crate::problem::Problem;
use crate::readers::Readers;
use crate::settings::Settings;
use crate::stop::Stop;
use crate::{ServeError, answer, api, assets, headers};

/// Connections at once; more wait until one ends.
const CONNECTIONS: usize = 512;

/// Bytes of a request's head at most.
const LONGEST_HEAD: usize = 16 << 10;

/// Headers of a request at most.
const HEADERS: usize = 64;

/// How long connections may take to end once the server is told to.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How long a client may take nothing of what it asked for.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a whole database may take to verify.
const VERIFY_TIME: Duration = Duration::from_secs(3600);

/// A server that is bound to its port.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    settings: Settings,
    gate: Gate,
    open: OpenDatabase,
    stop: Stop,
}

struct OpenDatabase(Opener);

impl std::fmt::Debug for OpenDatabase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OpenDatabase")
    }
}

/// What every request works with.
struct App {
    router: Router,
    gate: Gate,
    indexer: IndexThread,
    answer_time: Duration,
}

impl Server {
    /// Listens, and makes sure that the database can be read. Threads open it by the function, each for itself.
    pub fn bind(
        settings: Settings,
        open: impl Fn(Access) -> Result<Store, StoreError> + Send + Sync + 'static,
    ) -> Result<Self, ServeError> {
        let open: Opener = Arc::new(open);
        open(Access::Read)?;
        let wanted = SocketAddr::new(settings.bind, settings.port);
        let failed = |error| ServeError::Listen {
            address: wanted,
            error,
        };
        let listener = TcpListener::bind(wanted).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let mut allowed = settings.allowed_hosts.clone();
        if !address.ip().is_unspecified() {
            allowed.push(address.ip().to_string());
        }
        let gate = Gate::new(address.port(), &allowed, settings.token.clone())?;
        Ok(Self {
            listener,
            address,
            settings,
            gate,
            open: OpenDatabase(open),
            stop: Stop::new(),
        })
    }

    /// Returns the address that is listened on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address of the page, with the token where no server sees it: after the `#`.
    #[must_use]
    pub fn url(&self) -> String {
        let address = if self.address.ip().is_unspecified() {
            SocketAddr::new(std::net::Ipv4Addr::LOCALHOST.into(), self.address.port())
        } else {
            self.address
        };
        format!("http://{address}/#t={}", self.settings.token.reveal())
    }

    /// Returns an address of the page that works once. Programs that open a browser have it in their
    /// arguments, which every user of this machine may see; so it has no token, but a code to fetch it
    /// with, and whoever comes second is refused.
    pub fn url_for_once(&self) -> Result<String, ServeError> {
        let code = self.gate.make_code()?;
        let url = self.url();
        let page = url.split('#').next().unwrap_or_default();
        Ok(format!("{page}#o={code}"))
    }

    /// Returns what ends the server.
    #[must_use]
    pub fn stop_handle(&self) -> Stop {
        self.stop.clone()
    }

    /// Serves until it is told to stop.
    pub fn run(self) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| ServeError::System {
                doing: "start the server",
                error,
            })?;
        let served = runtime.block_on(self.serve());
        // A question that takes long keeps nobody from ending.
        runtime.shutdown_background();
        served
    }

    async fn serve(self) -> Result<(), ServeError> {
        let listener = tokio::net::TcpListener::from_std(self.listener);
        let listener = listener.map_err(|error| ServeError::System {
            doing: "listen",
            error,
        })?;
        let readers = Readers::start(&self.open.0)?;
        let prices = Arc::clone(&self.settings.prices);
        let live = Live::start(&self.open.0, readers.clone(), self.stop.clone(), prices)?;
        let mut router = api::router(
            &readers,
            live,
            self.settings.clone(),
            Arc::clone(&self.open.0),
        );
        if self.settings.has_page {
            router = assets::add(router);
        }
        let app = Arc::new(App {
            router: router
                .fallback(|| async { answer::problem(&Problem::not_found("this address")) }),
            gate: self.gate,
            indexer: IndexThread::start(&self.open.0)?,
            answer_time: self.settings.answer_time,
        });
        let room = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            let seat = tokio::select! {
                seat = Arc::clone(&room).acquire_owned() => seat,
                () = self.stop.stopped() => break,
            };
            let Ok(seat) = seat else { break };
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = self.stop.stopped() => break,
            };
            let Ok((stream, _)) = accepted else {
                // Mostly there are too many open files: what helps is that connections end.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let (app, stop, head_time) =
                (Arc::clone(&app), self.stop.clone(), self.settings.head_time);
            tokio::spawn(async move {
                connection(stream, app, &stop, head_time).await;
                drop(seat);
            });
        }
        drop(listener);
        let all = u32::try_from(CONNECTIONS).unwrap_or(u32::MAX);
        let _ = tokio::time::timeout(LAST_WORDS, room.acquire_many(all)).await;
        Ok(())
    }
}

/// Serves one connection.
async fn connection(stream: TcpStream, app: Arc<App>, stop: &Stop, head_time: Duration) {
    let service = service_fn(move |request| {
        let app = Arc::clone(&app);
        async move { Ok::<_, Infallible>(app.answer(request).await) }
    });
    // Events are small, and somebody waits for each.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_time)
        .max_buf_size(LONGEST_HEAD)
        .max_headers(HEADERS)
        .serve_connection(TokioIo::new(PatientStream::new(stream, PATIENCE)), service);
    tokio::pin!(connection);
    tokio::select! {
        // A client that goes away or talks no HTTP is nobody's failure.
        _ = connection.as_mut() => return,
        () = stop.stopped() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

impl App {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let path = request.uri().path();
        let is_file = path != "/api" && !path.starts_with("/api/");
        let time = if path == VERIFY {
            VERIFY_TIME
        } else {
            self.answer_time
        };
        let mut response = self.routed(request, time).await;
        let is_kept = is_file && !response.status().is_client_error();
        headers::add(response.headers_mut(), is_kept);
        response
    }

    async fn routed(&self, request: Request<Incoming>, time: Duration) -> Response<Body> {
        let (parts, body) = request.into_parts();
        if let Err(problem) = self.gate.check(&parts) {
            let mut refused = answer::problem(&problem);
            headers::add_hints(refused.headers_mut(), problem.status(), parts.uri.path());
            return refused;
        }
        self.indexer.somebody_asks();
        let request = Request::from_parts(parts, body);
        let router = TowerToHyperService::new(self.router.clone());
        match tokio::time::timeout(time, router.call(request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(never)) => match never {},
            Err(_) => {
                let detail = "the answer took too long: ask for less";
                answer::problem(&Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail))
            }
        }
    }
}
