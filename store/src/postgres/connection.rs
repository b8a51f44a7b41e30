//! One connection to a server: asked one thing at a time, by whoever holds it.
//!
//! The driver is asynchronous, and everything else here is not. So a connection has a little runtime of its own, which
//! runs while an answer is waited for. It must not be used, or dropped, inside of an asynchronous task.

use std::borrow::Cow;
use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, NoTls, Row, SimpleQueryMessage, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::{Address, Protection};
use super::fault::{away, is_away, of_reader};
use super::tls;
use crate::error::{Result, StoreError};

/// A value that goes into a statement.
pub(crate) type Value<'a> = &'a (dyn ToSql + Sync);

/// How many statements are kept prepared.
const MOST_STATEMENTS: usize = 256;

/// What is set for each connection. A writer that was stopped in the middle of a transaction must not hold up the others
/// for long, and times are read as they were written. A page that an index names is hardly dearer than the next one: with
/// the default, a list of runs read a small table over and over, and took longer than one of a large table. To compile
/// what is asked takes longer than to answer it.
const SETTINGS: &str = "SET idle_in_transaction_session_timeout = '60s';
    SET timezone = 'UTC'; SET client_min_messages = 'error';
    SET standard_conforming_strings = on; SET extra_float_digits = 1;
    SET random_page_cost = 1.1; SET jit = off";

/// What is set for those who write. What they ask is asked by keys, over and over: it is planned once, and never to read a
/// whole table because that was small at the time. Citus plans a statement for the shard that its values are of.
const WRITER_SETTINGS: &str = "SET enable_seqscan = off;
    SELECT set_config('plan_cache_mode', 'force_generic_plan', false)
    WHERE NOT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus')";

/// Begins to read from one state. Who reads a page or adds things up wants a plan for just that.
pub(super) const BEGIN_TO_READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SET LOCAL enable_seqscan = on; SET LOCAL plan_cache_mode = auto";

/// Begins to write.
pub(super) const BEGIN_TO_WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";

/// A statement with its values.
pub(super) struct Part<'a> {
    pub(super) sql: Cow<'a, str>,
    pub(super) values: Vec<Value<'a>>,
}

type Answer<T> = std::result::Result<T, tokio_postgres::Error>;

/// Something that is asked, and will be answered with rows.
type Question<'a> = Pin<Box<dyn Future<Output = Answer<Vec<Row>>> + 'a>>;

/// Waits for all answers, of which the first that is asked for comes first. What is asked is sent when it is first
/// looked for an answer.
async fn in_order(mut questions: Vec<Question<'_>>) -> Answer<Vec<Vec<Row>>> {
    let mut answers: Vec<_> = questions.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (question, answer) in questions.iter_mut().zip(&mut answers) {
            if answer.is_none()
                && let Poll::Ready(came) = question.as_mut().poll(context)
            {
                *answer = Some(came);
            }
        }
        if answers.iter().all(Option::is_some) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    answers.into_iter().flatten().collect()
}

/// A connection, or what is needed to make it again.
pub(crate) struct Connection {
    address: Address,
    read_only: bool,
    /// How long an answer to what is written is waited for, and a server that is away.
    patience: Duration,
    /// Absent where none is open.
    client: Option<Client>,
    statements: HashMap<String, Statement>,
    // Last, for its tasks are those of the client.
    runtime: Runtime,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection")
            .field("name", &self.address.name)
            .finish_non_exhaustive()
    }
}

impl Connection {
    /// Connects to a server.
    pub(super) fn open(address: Address, read_only: bool, patience: Duration) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|source| StoreError::File {
                path: address.name.clone().into(),
                doing: "start what a connection needs",
                source,
            })?;
        let mut connection = Self {
            address,
            read_only,
            patience,
            client: None,
            statements: HashMap::new(),
            runtime,
        };
        connection.connect()?;
        Ok(connection)
    }

    pub(super) fn name(&self) -> &str {
        &self.address.name
    }

    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    /// Tells whether the connection is encrypted.
    pub(super) fn is_encrypted(&self) -> bool {
        self.address.protection != Protection::None
    }

    fn connect(&mut self) -> Result<()> {
        self.client = None;
        self.statements.clear();
        let config = &self.address.config;
        // The driver's own limit ends when the connection is made: a server that hangs says nothing after that.
        let most = Some(self.patience);
        let client = match &self.address.protection {
            Protection::None => self.wait(most, async {
                let (client, driver) = config.connect(NoTls).await?;
                tokio::spawn(driver);
                Ok(client)
            })?,
            Protection::Tls { roots } => {
                let tls = MakeRustlsConnect::new(tls::settings(roots.as_deref())?);
                self.wait(most, async {
                    let (client, driver) = config.connect(tls).await?;
                    tokio::spawn(driver);
                    Ok(client)
                })?
            }
        };
        // Who waits for another writer is told so before the answer is given up.
        let lock_timeout = self.patience.as_millis() * 4 / 5;
        let mut settings = format!("{SETTINGS}; SET lock_timeout = {lock_timeout}");
        if self.read_only {
            settings.push_str("; SET default_transaction_read_only = on");
        } else {
            settings.push_str("; ");
            settings.push_str(WRITER_SETTINGS);
        }
        self.wait(Some(self.patience), client.batch_execute(&settings))?;
        self.client = Some(client);
        Ok(())
    }

    /// Waits for an answer, at most that long.
    fn wait<T>(
        &self,
        most: Option<Duration>,
        answer: impl Future<Output = std::result::Result<T, tokio_postgres::Error>>,
    ) -> Result<T> {
        self.runtime.block_on(async {
            match most {
                None => Ok(answer.await?),
                Some(most) => match tokio::time::timeout(most, answer).await {
                    Ok(answer) => Ok(answer?),
                    Err(_) => Err(away(
                        io::ErrorKind::TimedOut,
                        "the server has the connection open and does not answer",
                    )),
                },
            }
        })
    }

    /// Gives the connection up, whatever is going on in it.
    pub(super) fn hang_up(&mut self) {
        self.client = None;
        self.statements.clear();
    }

    /// Tells whether there is a connection, as far as is known.
    pub(super) fn is_open(&self) -> bool {
        self.client
            .as_ref()
            .is_some_and(|client| !client.is_closed())
    }

    /// Connects again where the connection was lost, as often as patience allows.
    pub(super) fn reconnect(&mut self) -> Result<()> {
        if self.is_open() {
            return Ok(());
        }
        let begin = Instant::now();
        let mut pause = Duration::from_millis(50);
        loop {
            match self.connect() {
                Err(error) if is_away(&error) && begin.elapsed() + pause < self.patience => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_secs(2));
                }
                result => return result,
            }
        }
    }

    fn client(&self) -> Result<&Client> {
        self.client.as_ref().ok_or_else(|| {
            away(
                io::ErrorKind::NotConnected,
                "the connection was lost: what was begun in it is undone",
            )
        })
    }

    /// Returns a statement that is prepared.
    fn prepared(&mut self, sql: &str) -> Result<Statement> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.wait(Some(self.patience), self.client()?.prepare(sql))?;
        if self.statements.len() >= MOST_STATEMENTS {
            self.statements.clear();
        }
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Looks at what came of a request: a connection that failed is not used again.
    fn checked<T>(&mut self, mut result: Result<T>) -> Result<T> {
        if self.read_only {
            result = result.map_err(of_reader);
        }
        if result.as_ref().is_err_and(is_away) {
            self.hang_up();
        }
        result
    }

    /// Returns the rows that a query gives. There is no limit to how long that may take.
    pub(super) fn rows(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>> {
        let result = self
            .prepared(sql)
            .and_then(|statement| self.wait(None, self.client()?.query(&statement, values)));
        self.checked(result)
    }

    /// Returns the rows that a statement gives that should not take long.
    pub(super) fn rows_soon(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>> {
        let result = self.prepared(sql).and_then(|statement| {
            self.wait(
                Some(self.patience),
                self.client()?.query(&statement, values),
            )
        });
        self.checked(result)
    }

    /// Asks several things one after the other, without waiting for an answer in between; returns the rows that each one
    /// gives. In a transaction nothing is done any more after the first that fails.
    pub(super) fn rows_of_all(&mut self, parts: &[Part<'_>]) -> Result<Vec<Vec<Row>>> {
        self.rows_between(None, parts, None)
    }

    /// Does the same between two statements without values, which give nothing: the begin of a transaction, or its end.
    pub(super) fn rows_between(
        &mut self,
        first: Option<&str>,
        parts: &[Part<'_>],
        last: Option<&str>,
    ) -> Result<Vec<Vec<Row>>> {
        let result = self.ask_all(first, parts, last);
        self.checked(result)
    }

    fn ask_all(
        &mut self,
        first: Option<&str>,
        parts: &[Part<'_>],
        last: Option<&str>,
    ) -> Result<Vec<Vec<Row>>> {
        let statements = parts.iter().map(|part| self.prepared(&part.sql));
        let statements: Vec<Statement> = statements.collect::<Result<_>>()?;
        let client = self.client()?;
        let bare = |sql| -> Question<'_> {
            Box::pin(async move { client.batch_execute(sql).await.map(|()| Vec::new()) })
        };
        let mut questions: Vec<Question<'_>> = Vec::with_capacity(parts.len() + 2);
        questions.extend(first.map(bare));
        for (statement, part) in statements.iter().zip(parts) {
            questions.push(Box::pin(client.query(statement, &part.values)));
        }
        questions.extend(last.map(bare));
        let mut answers = self.wait(Some(self.patience), in_order(questions))?;
        if last.is_some() {
            answers.pop();
        }
        if first.is_some() {
            answers.remove(0);
        }
        Ok(answers)
    }

    /// Executes a statement; returns how many rows it changed.
    pub(super) fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        let result = self.prepared(sql).and_then(|statement| {
            self.wait(
                Some(self.patience),
                self.client()?.execute(&statement, values),
            )
        });
        self.checked(result)
    }

    /// Executes statements without values.
    pub(super) fn batch(&mut self, sql: &str) -> Result<()> {
        let result = self
            .client()
            .and_then(|client| self.wait(Some(self.patience), client.batch_execute(sql)));
        self.checked(result)
    }

    /// Executes statements without values that may take as long as they take.
    pub(super) fn batch_slowly(&mut self, sql: &str) -> Result<()> {
        let result = self
            .client()
            .and_then(|client| self.wait(None, client.batch_execute(sql)));
        self.checked(result)
    }

    /// Returns the columns that a query of somebody's own gives, without running it: it must be one statement.
    pub(super) fn describe(&mut self, sql: &str) -> Result<Vec<(String, Type)>> {
        let result = self
            .client()
            .and_then(|client| self.wait(None, client.prepare(sql)));
        let statement = self.checked(result)?;
        let columns = statement.columns().iter();
        Ok(columns
            .map(|column| (column.name().to_owned(), column.type_().clone()))
            .collect())
    }

    /// Returns what a query of somebody's own gives, as text.
    pub(super) fn texts(&mut self, sql: &str) -> Result<Vec<SimpleQueryMessage>> {
        let result = self
            .client()
            .and_then(|client| self.wait(None, client.simple_query(sql)));
        self.checked(result)
    }
}
