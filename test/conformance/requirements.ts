/** What a client may rely on whatever runtime serves it: data, and nothing else. */

/** What a runtime's fixture may be unable to do; a requirement that needs it is not tested there. */
export type Ability =
  /** Keep a turn between two requests: not on a stateless Worker, where one instance serves one request. */
  | "hold"
  /** Start without it: what only a stateless deployment promises. */
  | "stateless"
  /** Be restarted by the test. */
  | "restart"
  /** Have its clock moved by the test. */
  | "clock";

export interface Requirement {
  /** The promise, in one sentence. */
  readonly says: string;
  /** Where it comes from. */
  readonly from: string;
  /** What the runtime must be able to do for it to be tested. */
  readonly needs?: readonly Ability[];
}

const AG_UI = "AG-UI 1.0";
const HTTP = "HTTP";
const HOLDLINE = "holdline";

export const requirements = {
  capabilities: {
    says: "GET tells the capabilities, and declares interrupts just where turns can be held.",
    from: `${AG_UI}, capabilities`,
  },
  methods: {
    says: "HEAD answers as GET without a body, OPTIONS with 204, any other method with 405; both name the methods.",
    from: HTTP,
  },
  "not-a-run": {
    says: "A body that is no run gets 415, 413 or 400 as JSON, the path of what is wrong, and no agent.",
    from: `${AG_UI}, HTTP binding`,
  },
  "refused-caller": {
    says: "A caller that is refused gets the application's own response, and no agent.",
    from: HOLDLINE,
  },
  cors: {
    says: "A browser of an allowed origin may preflight, read a stream, and read a refusal.",
    from: "Fetch, CORS",
  },
  stream: {
    says: "A run is a stream from RUN_STARTED to one terminating event, under the request's ids, kept from caches and proxies.",
    from: `${AG_UI}, lifecycle`,
  },
  "at-once": {
    says: "Head and RUN_STARTED arrive before the agent emits anything, and each event when it is emitted.",
    from: `${AG_UI}, transports`,
  },
  order: { says: "Thousands of events arrive whole and in order.", from: `${AG_UI}, transports` },
  text: {
    says: "Text of any script arrives as it was written, split pairs and line separators included.",
    from: `${AG_UI}, streaming`,
  },
  "long-history": { says: "A history of a megabyte reaches the agent.", from: `${AG_UI}, run input` },
  failure: {
    says: "An agent that throws ends its run as RUN_ERROR in words that give nothing away.",
    from: `${AG_UI}, lifecycle`,
  },
  tool: { says: "A tool call shows its start, arguments, end and result.", from: `${AG_UI}, tool calls` },
  "input-required": {
    says: "A turn may end with a question in its result, and the next message is an ordinary new turn.",
    from: HOLDLINE,
  },
  "threads-apart": { says: "Many threads at once get each their own events.", from: HOLDLINE },
  "slow-reader": {
    says: "A reader that stops slows the agent, and gets everything in order when it reads on.",
    from: `${AG_UI}, transports`,
  },
  leaving: { says: "A client that leaves amid a stream aborts the agent within a second.", from: HOLDLINE },
  "leaving-in-silence": {
    says: "A client that leaves while the agent says nothing aborts it within a second, or with the next keep-alive comment.",
    from: HOLDLINE,
  },
  silence: { says: "Thirty seconds without an event do not end a stream.", from: HOLDLINE },
  "no-hold": {
    says: "Where nothing can be held a question rejects at once, in words that name the ways out.",
    from: HOLDLINE,
    needs: ["stateless"],
  },
  ask: {
    says: "A question ends the run as an interrupt, and the answer goes on in the same function, entered once.",
    from: `${AG_UI}, interrupts`,
    needs: ["hold"],
  },
  "held-outlives-response": {
    says: "A held turn outlives the response and the connection that asked.",
    from: HOLDLINE,
    needs: ["hold"],
  },
  "work-after-answer": {
    says: "After an answer the agent can wait, time and fetch as before.",
    from: HOLDLINE,
    needs: ["hold"],
  },
  "ask-again-and-again": { says: "One function asks one question after another.", from: HOLDLINE, needs: ["hold"] },
  together: {
    says: "Questions asked together are one outcome; each answer reaches its own call, and a partial resume none.",
    from: `${AG_UI}, interrupts`,
    needs: ["hold"],
  },
  schemas: {
    says: "Answers are held to JSON Schemas and Standard Schemas, without eval, and a refused one uses nothing up.",
    from: HOLDLINE,
    needs: ["hold"],
  },
  proof: {
    says: "An answer without its question's proof is refused and the question stays open.",
    from: HOLDLINE,
    needs: ["hold"],
  },
  once: {
    says: "Of many equal answers at once one acts; the others are told that it was answered.",
    from: HOLDLINE,
    needs: ["hold"],
  },
  abandon: {
    says: "A question given up ends its run as cancelled, and the agent can tell.",
    from: `${AG_UI}, interrupts`,
    needs: ["hold"],
  },
  approval: { says: "A denied tool is not entered, an approved one is.", from: HOLDLINE, needs: ["hold"] },
  "waiting-thread": {
    says: "A plain run on a waiting thread is refused to a nameless caller, and asks its identified owner again.",
    from: HOLDLINE,
    needs: ["hold"],
  },
  strangers: {
    says: "Another identity on the same thread id has a thread of its own, and cannot answer.",
    from: HOLDLINE,
    needs: ["hold"],
  },
  queue: { says: "A plain run on a busy thread waits its turn.", from: HOLDLINE, needs: ["hold"] },
  "leaving-after-answer": {
    says: "A client that leaves while its answer is worked on aborts the turn, and its thread is free.",
    from: HOLDLINE,
    needs: ["hold"],
  },
  restart: {
    says: "An answer to a question from before a restart is refused, with a cause that says so.",
    from: HOLDLINE,
    needs: ["hold", "restart"],
  },
  deadline: {
    says: "A question that nobody answered is let go of at its deadline.",
    from: HOLDLINE,
    needs: ["hold", "clock"],
  },
} satisfies Record<string, Requirement>;

export type RequirementId = keyof typeof requirements;
