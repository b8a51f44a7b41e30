//! What calls of tools have to do with the network.

use std::collections::{BTreeMap, BTreeSet};

use runtape_core::ToolClass;
use runtape_core::report::{HostUse, NetworkCall, ToolCallInfo};

use super::call_sum::CallSum;
use crate::derive::hosts;
use crate::error::Result;
use crate::filter::{CallFilter, CallSubject};
use crate::pattern::NamePattern;
use crate::store::Store;

impl Store {
    /// Calls `each` with every use of the network in the calls that a filter lets through, the latest
    /// first, until it returns `false`: fetches, searches, and hosts that a shell command names.
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
            tables.each_call(&filter, usize::MAX, &mut |call| {
                let named = hosts_of(&call);
                let named = named
                    .into_iter()
                    .filter(|(name, _)| is_wanted(name.as_deref()));
                for (host, is_guessed) in named {
                    let call = call.clone();
                    let used = NetworkCall {
                        host,
                        is_guessed,
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
        let mut hosts: BTreeMap<(bool, Option<String>), (CallSum, BTreeSet<String>)> =
            BTreeMap::new();
        self.each_network_call(filter, host, |used| {
            let call = used.call;
            let (sum, tools) = hosts
                .entry((used.is_guessed, used.host))
                .or_insert_with(|| (CallSum::begin(&call), BTreeSet::new()));
            sum.add(&call);
            tools.insert(call.tool);
            true
        })?;
        let mut hosts: Vec<HostUse> = hosts
            .into_iter()
            .map(|((is_guessed, host), (sum, tools))| HostUse {
                host,
                is_guessed,
                calls: sum.calls,
                errors: sum.errors,
                runs: sum.runs.len() as u64,
                tools: tools.into_iter().collect(),
                run_id: sum.last.1,
                last_at: sum.last.0,
            })
            .collect();
        // Stable: hosts that are used alike stay in order.
        hosts.sort_by_key(|host| (host.is_guessed, std::cmp::Reverse(host.calls)));
        hosts.truncate(limit);
        Ok(hosts)
    }
}

/// Returns the hosts of a call, and whether each is only guessed. A fetch whose host nobody can read
/// from its address is a use all the same.
fn hosts_of(call: &ToolCallInfo) -> Vec<(Option<String>, bool)> {
    if let Some(url) = &call.url {
        return vec![(hosts::of_url(url), false)];
    }
    if call.class == Some(ToolClass::Network) {
        return vec![(None, false)];
    }
    let command = call.command.as_deref().unwrap_or_default();
    let named = hosts::in_command(command).into_iter();
    named.map(|host| (Some(host), true)).collect()
}
