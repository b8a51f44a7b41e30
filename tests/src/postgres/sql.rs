//! Statements that go past the store: what somebody with a password and a grudge would do.

use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// A connection of its own.
#[derive(Debug)]
pub struct Sql {
    client: Client,
    // Last, for its tasks are those of the client.
    runtime: Runtime,
}

/// What a server answered.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Its rows, as text.
    pub rows: Vec<Vec<Option<String>>>,
    /// How many rows the last statement changed or gave.
    pub changed: u64,
}

/// What a server said when it refused something.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Its code; empty if the connection was lost.
    pub code: String,
    /// Its words.
    pub text: String,
}

impl From<tokio_postgres::Error> for Refusal {
    fn from(error: tokio_postgres::Error) -> Self {
        let said = error.as_db_error();
        Self {
            code: said
                .map(|said| said.code().code().to_owned())
                .unwrap_or_default(),
            text: said.map_or_else(|| format!("{error:?}"), ToString::to_string),
        }
    }
}

impl Sql {
    /// Connects, without encryption.
    pub fn connect(address: &str) -> Result<Self, Refusal> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let client = runtime.block_on(async {
            let (client, driver) = tokio_postgres::connect(address, NoTls).await?;
            tokio::spawn(driver);
            Ok::<_, tokio_postgres::Error>(client)
        })?;
        Ok(Self { client, runtime })
    }

    /// Runs one or several statements; several are one transaction.
    pub fn ask(&self, sql: &str) -> Result<Answer, Refusal> {
        let messages = self.runtime.block_on(self.client.simple_query(sql))?;
        let mut answer = Answer::default();
        for message in messages {
            match message {
                SimpleQueryMessage::Row(row) => {
                    let cells = (0..row.len()).map(|at| row.get(at).map(str::to_owned));
                    answer.rows.push(cells.collect());
                }
                SimpleQueryMessage::CommandComplete(changed) => answer.changed = changed,
                _ => {}
            }
        }
        Ok(answer)
    }

    /// Runs statements that must succeed.
    pub fn run(&self, sql: &str) -> Answer {
        match self.ask(sql) {
            Ok(answer) => answer,
            Err(refusal) => panic!("{sql}: {}", refusal.text),
        }
    }

    /// Returns the one value that a query gives.
    #[must_use]
    pub fn value(&self, sql: &str) -> String {
        let cell = self
            .run(sql)
            .rows
            .into_iter()
            .next()
            .and_then(|row| row.into_iter().next());
        cell.flatten().unwrap_or_else(|| panic!("{sql}: no value"))
    }
}
