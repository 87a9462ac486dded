/** What people do with an agent, the careless and the malicious included. Each is one function over one person's tools. */
import { setTimeout as pause } from "node:timers/promises";

/** The open questions of a run, each with the token of the action that it guards. */
function questionsOf({ events }) {
  const tokens = new Map();
  for (const { type, toolCallId, delta } of events) {
    if (type === "TOOL_CALL_ARGS") tokens.set(toolCallId, JSON.parse(delta).token);
  }
  return (events.at(-1)?.outcome?.interrupts ?? []).map((interrupt) => ({
    interrupt,
    token: tokens.get(interrupt.toolCallId),
  }));
}

const entry = ({ interrupt: { id, metadata } }, payload) => ({
  interruptId: id,
  status: "resolved",
  payload,
  metadata,
});
const giveUp = ({ interrupt: { id, metadata } }) => ({ interruptId: id, status: "cancelled", metadata });
const unproven = ({ metadata: _metadata, ...rest }) => rest;
const forged = (one) => ({ ...one, metadata: { holdline: { proof: "A".repeat(43) } } });

export function person({ send, accounts, random, name, ttlMs }) {
  const say = async (run, how) => {
    const ended = await send({ user: name, ...run }, how);
    accounts.ended(ended.end);
    return ended;
  };
  let threads = 0;
  const thread = () => `${name}-${++threads}`;
  const upTo = (n) => Math.floor(random() * n);

  /** Asks for one to three deletions; gives the open questions, all or none of them. */
  async function ask(how) {
    const threadId = thread();
    const tokens = Array.from({ length: 1 + upTo(3) }, () => accounts.token());
    const questions = questionsOf(await say({ threadId, job: { kind: "delete", tokens } }, how));
    return { threadId, questions };
  }

  /** Answers each question yes or no; counts what was seen to be accepted. */
  async function answer({ threadId, questions }, { how, user = name, says = () => random() < 0.7 } = {}) {
    const words = questions.map((question) => ({ question, yes: says() }));
    const resume = words.map(({ question, yes }) => entry(question, yes));
    const ended = await say({ threadId, resume, user }, how);
    for (const { question, yes } of words) {
      if (!yes) continue;
      if (ended.accepted) accounts.accepted(question.token);
      else if (ended.end === "left") accounts.unsure(question.token);
    }
    return ended;
  }

  /** Answers in a way that must be refused, whatever it says. */
  async function mustBeRefused({ threadId, questions }, change, user = name) {
    const ended = await say({ threadId, user, resume: questions.map((question) => change(entry(question, true))) });
    if (ended.accepted) throw new Error(`An answer was accepted that should not have been: ${ended.end}`);
  }

  const acts = {
    async talks() {
      await say({ threadId: thread(), job: { kind: "talk" } });
    },
    async decides() {
      const asked = await ask();
      if (asked.questions.length > 0) await answer(asked);
    },
    async clicksTwice() {
      const asked = await ask();
      if (asked.questions.length === 0) return;
      await Promise.all([answer(asked, { says: () => true }), answer(asked, { says: () => true })]);
    },
    async clicksOften() {
      const asked = await ask();
      if (asked.questions.length > 0)
        await Promise.all(Array.from({ length: 6 }, () => answer(asked, { says: () => true })));
    },
    async forges() {
      const asked = await ask();
      if (asked.questions.length === 0) return;
      await mustBeRefused(asked, random() < 0.5 ? forged : unproven);
      await mustBeRefused(asked, (one) => one, "mallory");
      await mustBeRefused(asked, (one) => ({ ...one, payload: { approved: "perhaps" } }));
      if (asked.questions.length > 1)
        await mustBeRefused({ ...asked, questions: asked.questions.slice(1) }, (one) => one);
      await answer(asked);
    },
    async givesUp() {
      const { threadId, questions } = await ask();
      if (questions.length > 0) await say({ threadId, resume: questions.map(giveUp) });
    },
    async forgets() {
      await ask();
    },
    async comesLate() {
      const asked = await ask();
      await pause(ttlMs + upTo(200));
      if (asked.questions.length > 0) await answer(asked, { says: () => true });
    },
    async asksAndLeaves() {
      await ask({ leaveAfter: upTo(8) });
    },
    async answersAndLeaves() {
      const asked = await ask();
      if (asked.questions.length > 0) await answer(asked, { how: { leaveAfter: upTo(8) }, says: () => true });
    },
    async leavesAmidAStream() {
      await say({ threadId: thread(), job: { kind: "talk", pieces: 500 } }, { leaveAfter: upTo(60) });
    },
    async readsSlowly() {
      await say(
        { threadId: thread(), job: { kind: "talk", pieces: 300 } },
        { pauseMs: 20, leaveAfter: 500 + upTo(500) },
      );
    },
    async crowds() {
      const threadId = thread();
      await Promise.all(Array.from({ length: 10 }, () => say({ threadId, job: { kind: "slow" } })));
    },
    async hoards() {
      await Promise.all(Array.from({ length: 30 }, () => ask()));
    },
  };
  const names = Object.keys(acts);

  /** Acts until it is told to stop. */
  return async function live(isOver) {
    while (!isOver()) {
      await acts[names[upTo(names.length)]]();
      await pause(upTo(40));
    }
  };
}
