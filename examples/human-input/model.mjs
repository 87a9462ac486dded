/**
 * The models of the demo: a scripted one, so that every run is alike, or the real one that the
 * environment names. The agent in front of them is the same.
 */
import { setTimeout as pause } from "node:timers/promises";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";

/** @import { LanguageModel } from "ai" */
/** @typedef {Extract<Exclude<LanguageModel, string>, { specificationVersion: "v3" }>} Model */
/** @typedef {Parameters<Model["doStream"]>[0]["prompt"]} Prompt */
/** @typedef {Awaited<ReturnType<Model["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never} Part */
/** @typedef {{ says: string, calls?: [name: string, args: object][] }} Answer */

const NAMES = ["HOLDLINE_MODEL", "HOLDLINE_BASE_URL", "HOLDLINE_API_KEY"];

/**
 * A real model when all three variables are set, the scripted one when none is.
 * @param {NodeJS.ProcessEnv} env @returns {{ model: LanguageModel } | { missing: string[] }}
 */
export function chooseModel(env) {
  const [model = "", baseURL = "", apiKey = ""] = NAMES.map((name) => env[name]);
  if (model + baseURL + apiKey === "") return { model: scripted };
  const missing = NAMES.filter((name) => !env[name]);
  if (missing.length > 0) return { missing };
  return { model: createOpenAICompatible({ name: "demo", baseURL, apiKey, includeUsage: true })(model) };
}

/** @type {Model} */
const scripted = {
  specificationVersion: "v3",
  provider: "demo",
  modelId: "scripted",
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error("This model only streams.")),
  doStream: async ({ prompt }) => ({ stream: stream(answer(prompt)) }),
};

/** What it says next: the user's last words decide, and how often it has answered since. @param {Prompt} prompt @returns {Answer} */
function answer(prompt) {
  const asked = prompt.findLastIndex(({ role }) => role === "user");
  const since = prompt.slice(asked + 1);
  const step = since.filter(({ role }) => role === "assistant").length;
  const results = since.flatMap(resultsOf);
  const words = textOf(prompt[asked]).toLowerCase();
  if (words.includes("help me choose")) return choose();
  if (/afternoon|evening/.test(words)) return chosen(words.includes("evening") ? "LH429" : "LH441");
  if (words.includes("trip")) return planTrip(step, results);
  if (/refund|delete/.test(words)) return refundBooking(step, results);
  if (words.includes("book")) return bookJourney(step, results);
  return { says: 'Try "book", "refund", "trip", "help me choose" or "report".' };
}

/** @param {number} step @param {string[]} results @returns {Answer} */
function bookJourney(step, results) {
  if (step === 0) {
    return { says: "Let me see what flies to Frankfurt.", calls: [["search_flights", { to: "Frankfurt" }]] };
  }
  if (step > 1) return { says: results.at(-1) ?? "" };
  const { flight, leaves } = JSON.parse(results[0] ?? "");
  return { says: `There is ${flight}, leaving at ${leaves}.`, calls: [["book_flight", { flight }]] };
}

/** Two calls in one answer: their questions go out together. @param {number} step @param {string[]} results @returns {Answer} */
function planTrip(step, results) {
  if (step > 0) return { says: results.join(" ") };
  return {
    says: "A flight and a hotel, then.",
    calls: [
      ["book_flight", { flight: "LH441" }],
      ["book_hotel", { city: "Frankfurt" }],
    ],
  };
}

/** @param {number} step @param {string[]} results @returns {Answer} */
function refundBooking(step, results) {
  if (step > 0) return { says: results.join(" ") };
  return {
    says: "That booking can still be refunded.",
    calls: [["refund_booking", { booking: "K7Q2MX", euros: 412 }]],
  };
}

/** Ends the turn with a question: nothing waits, the reply is a new turn. @returns {Answer} */
function choose() {
  const prompt = "Would you rather leave in the afternoon (LH441) or in the evening (LH429)?";
  return { says: "Two flights are left.", calls: [["request_input", { prompt, reason: "two flights fit" }]] };
}

/** @param {string} flight @returns {Answer} */
function chosen(flight) {
  return { says: `${flight} it is. Write "book" and I will ask once more before I do.` };
}

/** @param {Prompt[number] | undefined} message */
function textOf(message) {
  if (message?.role !== "user") return "";
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** @param {Prompt[number]} message @returns {string[]} */
function resultsOf(message) {
  if (message.role !== "tool") return [];
  return message.content.flatMap((part) => {
    if (part.type !== "tool-result" || !("value" in part.output)) return [];
    const { value } = part.output;
    return [typeof value === "string" ? value : JSON.stringify(value)];
  });
}

let calls = 0;

/** In pieces, with time between them, as a model streams. @param {Answer} answer @returns {ReadableStream<Part>} */
function stream({ says, calls: made = [] }) {
  /** @returns {AsyncGenerator<Part, void, undefined>} */
  async function* parts() {
    yield { type: "stream-start", warnings: [] };
    yield { type: "text-start", id: "text" };
    yield* slowly(says, /(?:\S+\s*){1,3}/g, (delta) => ({ type: "text-delta", id: "text", delta }));
    yield { type: "text-end", id: "text" };
    for (const [toolName, args] of made) {
      const toolCallId = `call_demo_${++calls}_${crypto.randomUUID().slice(0, 8)}`;
      const input = JSON.stringify(args);
      yield { type: "tool-input-start", id: toolCallId, toolName };
      yield* slowly(input, /[\s\S]{1,24}/g, (delta) => ({ type: "tool-input-delta", id: toolCallId, delta }));
      yield { type: "tool-input-end", id: toolCallId };
      yield { type: "tool-call", toolCallId, toolName, input };
    }
    const unified = made.length > 0 ? "tool-calls" : "stop";
    yield { type: "finish", finishReason: { unified, raw: unified }, usage: UNCOUNTED };
  }
  const source = parts();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await source.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await source.return();
    },
  });
}

/** @param {string} text @param {RegExp} pieces @param {(delta: string) => Part} make */
async function* slowly(text, pieces, make) {
  for (const piece of text.match(pieces) ?? []) {
    yield make(piece);
    await pause(30);
  }
}

/** A script uses no tokens. */
const UNCOUNTED = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};
