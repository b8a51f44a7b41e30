//! What calls of tools have to do with the network.

use std::collections::{BTreeMap, BTreeSet};

use runtape_core::ToolClass;
use runtape_core::report::{HostUse, KnownBy, NetworkCall, ToolCallInfo};

use super::call_sum::CallSum;
use crate::derive::hosts;
use crate::derive::touched::{effects, is_guess, tell};
use crate::error::Result;
use crate::filter::{CallFilter, CallSubject};
use crate::pattern::NamePattern;
use crate::store::Store;

impl Store {
    /// Calls `each` with every use of the network in the calls that a filter lets through, the latest
    /// first, until it returns `false`: fetches, searches, what is published, and hosts that a shell command
    /// names.
    pub fn each_network_call(
        &self,
        filter: &CallFilter,
        host: Option<&NamePattern>,
        mut each: impl FnMut(NetworkCall) -> bool,
    ) -> Result<()> {
        let mut filter = filter.clone();
        filter.subject = Some(CallSubject::Network);
        let is_wanted = |name: Option<&str>| {
            host.is_none_or(|host| name.is_some_and(|name| host.matches(name)))
        };
        self.read(|tables| {
            tables.each_call(&filter, usize::MAX, &mut |mut call| {
                let mut named = hosts_of(&call);
                named.retain(|(name, _)| is_wanted(name.as_deref()));
                if !named.is_empty() {
                    tell(&mut call);
                }
                for (host, known_by) in named {
                    let call = call.clone();
                    let used = NetworkCall {
                        host,
                        is_guessed: known_by.is_some(),
                        known_by,
                        call,
                    };
                    if !each(used) {
                        return Ok(false);
                    }
                }
                Ok(true)
            })
        })
    }

    /// Returns the hosts of these calls, the most used first, those that are known before those that
    /// are guessed.
    pub fn hosts(
        &self,
        filter: &CallFilter,
        host: Option<&NamePattern>,
        limit: usize,
    ) -> Result<Vec<HostUse>> {
        type Key = (Option<KnownBy>, Option<String>);
        let mut hosts: BTreeMap<Key, (CallSum, BTreeSet<String>)> = BTreeMap::new();
        self.each_network_call(filter, host, |used| {
            let call = used.call;
            let (sum, tools) = hosts
                .entry((used.known_by, used.host))
                .or_insert_with(|| (CallSum::begin(&call), BTreeSet::new()));
            sum.add(&call);
            tools.insert(call.tool);
            true
        })?;
        let mut hosts: Vec<HostUse> = hosts
            .into_iter()
            .map(|((known_by, host), (sum, tools))| HostUse {
                host,
                is_guessed: known_by.is_some(),
                known_by,
                calls: sum.calls,
                errors: sum.errors,
                runs: sum.runs.len() as u64,
                tools: tools.into_iter().collect(),
                run_id: sum.last.1,
                last_at: sum.last.0,
            })
            .collect();
        // Stable: hosts that are used alike stay in order.
        hosts.sort_by_key(|host| (host.known_by, std::cmp::Reverse(host.calls)));
        hosts.truncate(limit);
        Ok(hosts)
    }
}

/// Returns the hosts of a call, and how each is known where the call does not say it itself. A fetch whose
/// host nobody can read from its address is a use all the same, and so is what is published.
fn hosts_of(call: &ToolCallInfo) -> Vec<(Option<String>, Option<KnownBy>)> {
    if let Some(url) = &call.url {
        let known_by = is_guess(call).then_some(KnownBy::Guess);
        return vec![(hosts::of_url(url), known_by)];
    }
    if matches!(call.class, Some(ToolClass::Network | ToolClass::Publish)) {
        return vec![(None, None)];
    }
    let reached = effects(call)
        .map(|effects| effects.hosts)
        .unwrap_or_default();
    let named = hosts::in_command(call.command.as_deref().unwrap_or_default());
    let guessed = named
        .difference(&reached)
        .map(|host| (host, KnownBy::Guess));
    let reached = reached.iter().map(|host| (host, KnownBy::Shell));
    let all = reached.chain(guessed);
    all.map(|(host, known_by)| (Some(host.clone()), Some(known_by)))
        .collect()
}
