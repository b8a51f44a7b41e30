//! What calls touched beyond what they say themselves.

use runtape_core::report::{KnownBy, ShellEffects, ToolCallInfo};
use runtape_core::{Runtime, ToolClass};

use super::shell::{self, Effects};

/// Adds to a call what follows from it: whether its arguments are guessed, and what its command does.
pub fn tell(call: &mut ToolCallInfo) {
    call.known_by = is_guess(call).then_some(KnownBy::Guess);
    call.shell = effects(call).map(|effects| ShellEffects {
        read: effects.read.into_iter().collect(),
        written: effects.written.into_iter().collect(),
        deleted: effects.deleted.into_iter().collect(),
        hosts: effects.hosts.into_iter().collect(),
        untold_files: effects.untold_files,
        untold_hosts: effects.untold_hosts,
    });
}

/// Tells whether command, files and URL of a call are guessed. Tables of tools name no arguments of
/// these classes.
pub(crate) fn is_guess(call: &ToolCallInfo) -> bool {
    let is_unknown = matches!(call.class, Some(ToolClass::Mcp | ToolClass::Other));
    let touches = call.command.is_some() || call.url.is_some() || !call.paths.is_empty();
    touches && (is_unknown || call.runtime == Runtime::Generic)
}

/// Returns what a call's command does; none where its words tell nothing.
pub(crate) fn effects(call: &ToolCallInfo) -> Option<Effects> {
    let effects = shell::effects(call.command.as_deref()?);
    (effects != Effects::default()).then_some(effects)
}
