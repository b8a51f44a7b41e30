/** Results of executions in which the agent CLI was never started. */

/** Says that nothing was done: the host may simply try again. */
const NOT_STARTED = { kind: "bootstrap", providerWorkStarted: false };

export function notStarted(errorCode, errorMessage) {
  return {
    exitCode: null,
    signal: null,
    timedOut: false,
    errorMessage,
    errorCode,
    executionRecovery: NOT_STARTED,
  };
}

/** Says that the user stopped it before it began. */
export function cancelledBeforeStart() {
  return {
    ...notStarted("runtape_cancelled", "stopped on request before the agent was started"),
    resultJson: {
      executionCancellation: { state: "acknowledged", acknowledgedAt: new Date().toISOString() },
    },
  };
}

/** Says that the adapter itself failed while the agent ran: the conversation may go on. */
export function brokenOff(errorMessage) {
  return {
    exitCode: null,
    signal: null,
    timedOut: false,
    errorMessage,
    errorCode: "runtape_failed",
    resultJson: { conversationContinuation: "continue_conversation_v1" },
  };
}
