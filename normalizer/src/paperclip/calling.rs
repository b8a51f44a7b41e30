//! How an adapter calls a runtime's CLI. Each runtime's folder fills one of these in.

use std::collections::BTreeMap;

use runtape_core::report::{AdapterFault, CheckLevel, DoctorCheck, PromptPlace};

use super::agent_config::AgentConfig;
use super::billing::Billing;

/// The variables of an environment.
pub type Variables = BTreeMap<String, String>;

/// How an adapter calls a CLI.
#[derive(Clone, Debug)]
pub struct Calling {
    /// The program that is started if the configuration names none.
    pub program: &'static str,
    /// Where the prompt goes.
    pub prompt: PromptPlace,
    /// Tells what is wrong with a configuration.
    pub fault: fn(AgentConfig<'_>) -> Option<AdapterFault>,
    /// Returns the arguments of a run.
    pub arguments: fn(&CallRequest<'_>) -> Vec<String>,
    /// Sets what the CLI needs in its environment to run without a person.
    pub prepare: fn(&mut Variables, AgentConfig<'_>),
    /// What the names of variables begin with whose secrets the CLI may inherit from the server:
    /// those of the models that it talks to.
    pub credentials: &'static [&'static str],
    /// Variables that tell the CLI that it runs inside itself: no agent inherits them.
    pub nesting: &'static [&'static str],
    /// Where its skills are.
    pub skills: SkillsPlace,
    /// Tells what an environment test says about credentials.
    pub check: fn(&CredentialPlaces<'_>) -> Vec<DoctorCheck>,
    /// Tells who bills for a run.
    pub billing: fn(&Variables, Option<&str>) -> Billing,
}

/// Where a CLI looks for skills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillsPlace {
    /// In a directory that its command line names.
    Argument,
    /// In this one, below the user's home directory.
    Home(&'static str),
    /// In `skills` of the directory that a variable names, else in this one below the home directory.
    Variable(&'static str, &'static str),
}

impl SkillsPlace {
    /// Returns the directory in an environment; `None` if the command line names one, or nothing
    /// does.
    #[must_use]
    pub fn directory(self, variables: &Variables) -> Option<String> {
        let set = |name: &str| variables.get(name).filter(|value| !value.trim().is_empty());
        let in_home = |place: &str| Some(format!("{}/{place}", set("HOME")?));
        match self {
            Self::Argument => None,
            Self::Home(place) => in_home(place),
            Self::Variable(name, place) => match set(name) {
                Some(directory) => Some(format!("{directory}/skills")),
                None => in_home(place),
            },
        }
    }
}

/// One call of a CLI.
#[derive(Clone, Copy, Debug)]
pub struct CallRequest<'a> {
    /// The agent's configuration.
    pub config: AgentConfig<'a>,
    /// The directory to work in.
    pub cwd: &'a str,
    /// The session to go on with; of the runtime's form.
    pub resume: Option<&'a str>,
    /// What the agent is told, for a CLI that takes it as an argument.
    pub prompt: &'a str,
    /// A file with instructions for the system prompt.
    pub instructions_file: Option<&'a str>,
    /// A directory with skills.
    pub skills_directory: Option<&'a str>,
    /// A file that names tool servers.
    pub tool_servers_file: Option<&'a str>,
    /// Whether the CLI runs as root.
    pub is_superuser: bool,
    /// Its environment.
    pub variables: &'a Variables,
}

/// The words of a command line, as they are put together.
#[derive(Debug, Default)]
pub struct Words(Vec<String>);

impl Words {
    /// Begins with these.
    #[must_use]
    pub fn new(words: &[&str]) -> Self {
        Self(words.iter().map(|word| (*word).to_owned()).collect())
    }

    /// Adds words.
    pub fn add(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(|word| (*word).to_owned()));
    }

    /// Adds a flag with its value, if there is one.
    pub fn option(&mut self, flag: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.add(&[flag, value]);
        }
    }

    /// Adds a flag if it is wanted.
    pub fn flag(&mut self, flag: &str, is_wanted: bool) {
        if is_wanted {
            self.add(&[flag]);
        }
    }

    /// Adds the configuration's own words.
    pub fn extra(&mut self, config: AgentConfig<'_>) {
        self.0.extend(config.extra_arguments());
    }

    /// Returns the words.
    #[must_use]
    pub fn into_words(self) -> Vec<String> {
        self.0
    }
}

/// Where credentials of a CLI may be.
pub struct CredentialPlaces<'a> {
    /// The server's environment, as far as the agent inherits it.
    pub server: &'a Variables,
    /// The variables that were set for the agent.
    pub configured: &'a Variables,
    /// Tells whether a file is there, below the agent's home directory.
    pub has_file: &'a dyn Fn(&str) -> bool,
}

impl CredentialPlaces<'_> {
    /// Returns the first variable that is set for the agent, and not empty.
    #[must_use]
    pub fn configured<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        first_set(self.configured, names)
    }

    /// Returns the first variable that the agent inherits, and that its configuration leaves alone.
    #[must_use]
    pub fn inherited<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        let names = names.iter().copied();
        let mut names = names.filter(|name| !self.configured.contains_key(*name));
        names.find(|name| is_set(self.server, name))
    }

    /// Returns the first variable that is set in either place.
    #[must_use]
    pub fn any<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        self.configured(names).or_else(|| self.inherited(names))
    }

    /// Returns the first file that is there, below the agent's home directory.
    #[must_use]
    pub fn file<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().copied().find(|name| (self.has_file)(name))
    }
}

/// Tells whether a variable is there and not empty.
#[must_use]
pub fn is_set(variables: &Variables, name: &str) -> bool {
    variables
        .get(name)
        .is_some_and(|value| !value.trim().is_empty())
}

/// Returns the first of these variables that is there and not empty.
#[must_use]
pub fn first_set<'n>(variables: &Variables, names: &[&'n str]) -> Option<&'n str> {
    names.iter().copied().find(|name| is_set(variables, name))
}

/// Makes a check that has neither detail nor hint.
#[must_use]
pub fn check(code: &str, level: CheckLevel, message: impl Into<String>) -> DoctorCheck {
    DoctorCheck {
        code: code.to_owned(),
        level,
        message: message.into(),
        detail: None,
        hint: None,
    }
}
