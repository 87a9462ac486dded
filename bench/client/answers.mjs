/** What is read of an answer, and what must be in it. Every one is compared in full. */
import { delta } from "../source.mjs";

/** The events of a body, one by one, with the character at which each ended. */
export function* eventsOf(body) {
  let from = 0;
  while (from < body.length) {
    const end = body.indexOf("\n\n", from);
    if (end < 0) throw new Error(`half an event: ${body.slice(from, from + 200)}`);
    const data = body.slice(from, end);
    from = end + 2;
    if (data.startsWith(":")) continue;
    if (!data.startsWith("data: ")) throw new Error(`no event: ${data.slice(0, 200)}`);
    if (data === "data: [DONE]") continue;
    yield { event: JSON.parse(data.slice(6)), end: from };
  }
}

const TEXTS = new Set(["TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK", "text-delta"]);

/**
 * Every delta, in order. A peer that joins deltas is as right: the whole text is compared.
 * @param {string} body @param {{ n: number, size?: number }} expected @returns {number} how many events it had
 */
export function checkStream(body, { n, size = 0 }) {
  let events = 0;
  let deltas = 0;
  let inStep = true;
  let text = "";
  for (const { event } of eventsOf(body)) {
    events++;
    if (event.type === "RUN_ERROR" || event.type === "error") throw new Error(`refused: ${JSON.stringify(event)}`);
    if (!TEXTS.has(event.type)) continue;
    if (event.delta === undefined) continue;
    if (inStep && event.delta !== delta(deltas, size)) inStep = false;
    deltas++;
    text += event.delta;
  }
  if (inStep && deltas === n) return events;
  const expected = Array.from({ length: n }, (_, i) => delta(i, size)).join("");
  if (text !== expected) throw new Error(`wrong text: ${text.length} of ${expected.length} characters`);
  return events;
}

/** An answer that ends with one interrupt. @returns {{ interrupt: object, events: number }} */
export function readQuestion(body, question) {
  const events = [...eventsOf(body)].map(({ event }) => event);
  const { type, outcome } = events.at(-1);
  if (type !== "RUN_FINISHED" || outcome?.interrupts?.[0]?.message !== question)
    throw new Error(`no question: ${body}`);
  return { interrupt: outcome.interrupts[0], events: events.length };
}

/** An answer that says one text and succeeds. @returns {number} how many events it had */
export function checkSaid(body, said) {
  const events = [...eventsOf(body)].map(({ event }) => event);
  const text = events.map((event) => (event.type === "TEXT_MESSAGE_CONTENT" ? event.delta : "")).join("");
  if (text !== said || events.at(-1).outcome?.type !== "success") throw new Error(`not "${said}": ${body}`);
  return events.length;
}
