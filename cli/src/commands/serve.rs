//! `runtape serve`: a page to watch and browse, an API to ask.

use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use runtape_core::report::ServeInfo;
use runtape_recorder::write_private;
use runtape_serve::{Access, Server, Settings, Stop, Token};
use runtape_store::{Options, Store};

use crate::arguments::prices::PriceArgs;
use crate::commands::Invocation;
use crate::error::CliError;
use crate::terminal::times;

/// Serve a page to watch and browse runs, and an API, on this machine
///
/// Open the address that this prints: it has a token in it, without which nothing is shown. The API is
/// below /api/v1 and answers as other commands do with --json; /api/v1/openapi.json describes it. Ends
/// with Ctrl-C.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// The address to listen on; other machines can reach any but a loopback one, and there is no TLS
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// The port; 0 picks one that is free
    #[arg(long, value_name = "N", default_value_t = 4870)]
    port: u16,
    /// A further name or address by which requests may call this machine (can be repeated)
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Open the page in a browser
    #[arg(long, conflicts_with = "json_only")]
    open: bool,
    /// Serve the API only, without the page
    #[arg(long)]
    json_only: bool,
    /// Keep the token in this file, which is made if it is not there, so that it stays the same
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    #[command(flatten)]
    prices: PriceArgs,
}

/// Returns the token of a file that only its owner may read, or makes both.
fn token_of(path: &Path) -> Result<Token, CliError> {
    let failed = |error| CliError::Read {
        path: path.into(),
        error,
    };
    match fs::read_to_string(path) {
        Ok(text) => {
            refuse_open(path)?;
            Ok(Token::parse(text.trim_end())?)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let token = Token::random()?;
            let text = format!("{}\n", token.reveal());
            write_private(path, text.as_bytes()).map_err(|error| CliError::WriteFile {
                path: path.into(),
                error,
            })?;
            Ok(token)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Refuses a file that others may read.
#[cfg(unix)]
fn refuse_open(path: &Path) -> Result<(), CliError> {
    use std::os::unix::fs::PermissionsExt;
    let failed = |error| CliError::Read {
        path: path.into(),
        error,
    };
    let mode = fs::metadata(path).map_err(failed)?.permissions().mode();
    if mode.trailing_zeros() >= 6 {
        return Ok(());
    }
    Err(CliError::OpenToken { path: path.into() })
}

#[cfg(not(unix))]
fn refuse_open(_: &Path) -> Result<(), CliError> {
    Ok(())
}

/// Ends the server when the process is told to end.
#[cfg(unix)]
fn stop_on_signals(stop: Stop) -> Result<(), CliError> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let failed = |error| CliError::System {
        what: "cannot watch for signals",
        error,
    };
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]).map_err(failed)?;
    std::thread::spawn(move || {
        for _ in signals.forever() {
            stop.stop();
        }
    });
    Ok(())
}

#[cfg(not(unix))]
fn stop_on_signals(_: Stop) -> Result<(), CliError> {
    Ok(())
}

/// Opens the page in whatever browser the desktop has.
fn open_browser(url: &str) -> std::io::Result<()> {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let mut command = std::process::Command::new(program);
    let null = std::process::Stdio::null;
    let mut child = command
        .arg(url)
        .stdin(null())
        .stdout(null())
        .stderr(null())
        .spawn()?;
    // Waited for, so that it leaves no zombie behind.
    std::thread::spawn(move || child.wait());
    Ok(())
}

pub(crate) fn run(args: &ServeArgs, invocation: &mut Invocation<'_>) -> Result<(), CliError> {
    // Says what to do where there is no database, and migrates an old one.
    drop(invocation.database.open_for_search()?);
    let token = match &args.token_file {
        Some(path) => token_of(path)?,
        None => Token::random()?,
    };
    let mut settings = Settings::new(token.clone()).with_times(times::parse_time, times::local_day);
    settings.bind = args.bind;
    settings.port = args.port;
    settings.allowed_hosts.clone_from(&args.allow_host);
    settings.has_page = !args.json_only;
    settings.prices = Arc::new(args.prices.table()?.into_owned());
    // For a server this has its password in it: it is not printed.
    let path = invocation.database.path().to_owned();
    let server = Server::bind(settings, move |access| {
        let mut options = Options::read_only();
        options.read_only = access == Access::Read;
        Store::open(&path, &options)
    })?;
    stop_on_signals(server.stop_handle())?;
    let (url, port) = (server.url(), server.address().port());
    if invocation.console.json {
        let token = token.reveal().to_owned();
        invocation.console.object(&ServeInfo { url, port, token })?;
    } else {
        invocation.console.line(&url)?;
    }
    invocation.console.out.flush()?;
    if !args.bind.is_loopback() {
        invocation.warn(
            "other machines can reach this, and there is no TLS: whoever is on the way can read the token and all that is shown",
        );
    }
    if args.open
        && let Err(error) = open_browser(&server.url_for_once()?)
    {
        invocation.warn(&format!("no browser could be started: {error}"));
    }
    Ok(server.run()?)
}
