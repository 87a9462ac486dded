/**
 * `npm run demo -- --once`: starts the demo's server as a process of its own on a free port and
 * talks to it as anybody's program would, with the protocol's own client over a real socket. Every
 * byte that is read is printed; the first thing that is not as expected ends it.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { buildResumeArray, HttpAgent } from "@ag-ui/client";

/** @import { Interrupt, ResumeEntry } from "@ag-ui/client" */
/** @typedef {{ type: string, [member: string]: any }} Event */

/** How long all of it may take, in milliseconds. A server that does not answer is an error, too. */
const LONGEST = 60_000;

/** Resolves to the exit code: 0 when everything was as expected. */
export async function runOnce() {
  const warned = /** @type {string[]} */ ([]);
  // The client warns where it strips or repairs what a server sent; here nothing may need that.
  console.warn = (...words) => warned.push(words.join(" "));
  const server = startServer();
  const late = new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`This took longer than ${LONGEST} ms.`)), LONGEST).unref();
  });
  try {
    await Promise.race([drive(await Promise.race([server.url, late])), late]);
    assert.deepEqual(warned, [], "the client warned");
    assert.equal(await Promise.race([server.stop(), late]), 0, "the server's exit code");
    console.log("\n✓ All of it was as expected.");
    return 0;
  } catch (error) {
    console.error(`\n✗ ${error instanceof Error ? error.stack : error}\n\nThe server said:\n${server.said()}`);
    return 1;
  } finally {
    server.kill();
  }
}

function startServer() {
  const path = fileURLToPath(new URL("server.mjs", import.meta.url));
  // What is checked is the scripted model's: another one would say what it likes.
  const { HOLDLINE_MODEL: _model, HOLDLINE_BASE_URL: _url, HOLDLINE_API_KEY: _key, ...env } = process.env;
  const child = spawn(process.execPath, [path], { env: { ...env, PORT: "0" } });
  const exited = once(child, "exit");
  let said = "";
  const url = new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", () => reject(new Error("The server did not start.")));
    const hear = (/** @type {Buffer} */ chunk) => {
      said += chunk;
      const found = /served at (http:\S+)\n/.exec(said);
      if (found) resolve(found[1]);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
  });
  return {
    url,
    said: () => said,
    /** Asks it to close, as a supervisor would. */
    async stop() {
      child.kill("SIGTERM");
      const [code] = await exited;
      return code;
    },
    kill: () => child.kill("SIGKILL"),
  };
}

/** @param {string} url */
async function drive(url) {
  console.log(`The server listens at ${url}`);
  await askAndAnswer(connect(url, "book"));
  await deny(connect(url, "refund"));
  await answerInAnotherOrder(connect(url, "trip"));
  await refuse(connect(url, "refused"), connect(url, "meanwhile"));
  await reply(connect(url, "choose"));

  title("What the agent counted: one turn for each question that was asked and answered");
  const { result } = await run(connect(url, "report"), { says: "Report" });
  assert.deepEqual(result, {
    turns: 8,
    seatsHeld: 3,
    flightsBooked: 2,
    nightsBooked: 3,
    refunds: 0,
    seatsHeldNow: 0,
  });
}

/** @param {HttpAgent} client */
async function askAndAnswer(client) {
  title("Ask in the middle of a tool");
  const first = await run(client, { says: "Book me a flight to Frankfurt" });
  assert.equal(first.outcome, "interrupt");
  const [question, ...others] = client.pendingInterrupts;
  assert(question !== undefined && others.length === 0, "one question");
  assert.equal(question.message, "Book LH441? (yes/no)");
  assert.equal(question.toolCallId, first.toolCallNamed("book_flight"));
  const seat = /seat \d+C/.exec(first.text)?.[0];
  assert(seat !== undefined, "the tool holds a seat");

  title("Answer: the same function goes on, with the seat that it holds");
  const second = await run(client, { resume: answer(client.pendingInterrupts, "yes") });
  assert.equal(second.outcome, "success");
  assert.equal(second.count("TOOL_CALL_START"), 0);
  assert.deepEqual(second.toolResults(), { [String(question.toolCallId)]: `Booked: ${seat} on LH441.` });
  assert.deepEqual(client.pendingInterrupts, []);
}

/** @param {HttpAgent} client */
async function deny(client) {
  title("Ask for an approval");
  const first = await run(client, { says: "Refund my booking" });
  const [question] = client.pendingInterrupts;
  assert.equal(question?.reason, "tool_approval");
  assert.equal(question.toolCallId, first.toolCallNamed("refund_booking"));
  assert.deepEqual(first.toolResults(), {});

  title("Deny it: the tool does not run");
  const second = await run(client, { resume: answer(client.pendingInterrupts, false) });
  assert.equal(second.outcome, "success");
  assert.deepEqual(second.toolResults(), { [String(question.toolCallId)]: "User denied the tool call request" });
}

/** @param {HttpAgent} client */
async function answerInAnotherOrder(client) {
  title("Ask two questions at once");
  const first = await run(client, { says: "Plan my trip" });
  assert.deepEqual(
    client.pendingInterrupts.map(({ message }) => message),
    ["Book LH441? (yes/no)", "How many nights in Frankfurt?"],
  );
  const [flight, hotel] = /** @type {[Interrupt, Interrupt]} */ (client.pendingInterrupts);
  assert.equal(flight.toolCallId, first.toolCallNamed("book_flight"));
  assert.equal(hotel.toolCallId, first.toolCallNamed("book_hotel"));

  title("Answer them in the other order: each tool gets its own answer");
  const resume = answer(client.pendingInterrupts, "yes", 3).reverse();
  const second = await run(client, { resume });
  assert.equal(second.outcome, "success");
  const results = second.toolResults();
  assert.match(results[String(flight.toolCallId)] ?? "", /^Booked: seat \d+C on LH441\.$/);
  assert.equal(results[String(hotel.toolCallId)], "3 nights in Frankfurt.");
}

/** @param {HttpAgent} client @param {HttpAgent} meanwhile */
async function refuse(client, meanwhile) {
  title("Ask, to be answered with a proof that is not the one issued");
  await run(client, { says: "Book me a flight to Frankfurt" });
  const [question] = client.pendingInterrupts;
  assert(question !== undefined, "one question");

  title("The answer is refused, and nothing has happened");
  const forged = { ...question, metadata: { holdline: { proof: "A".repeat(proofOf(question).length) } } };
  const refused = await run(client, { resume: answer([forged], "yes") });
  assert.deepEqual(refused.types, ["RUN_ERROR"]);
  assert.equal(refused.error, "INTERRUPT_NOT_PROVEN");
  const { result } = await run(meanwhile, { says: "Report" });
  assert.deepEqual([result.flightsBooked, result.seatsHeldNow], [2, 1]);

  title("The right answer still works");
  const right = await run(client, { resume: answer(client.pendingInterrupts, "no") });
  assert.equal(right.outcome, "success");
  assert.deepEqual(right.toolResults(), { [String(question.toolCallId)]: "LH441 was not booked." });
}

/** @param {HttpAgent} client */
async function reply(client) {
  title("End the turn with a question: nothing is held");
  const first = await run(client, { says: "Help me choose a flight" });
  assert.equal(first.outcome, "success");
  const message = "Would you rather leave in the afternoon (LH441) or in the evening (LH429)?";
  assert.deepEqual(first.result, { status: "input-required", message });
  assert.deepEqual(client.pendingInterrupts, []);

  title("The reply is an ordinary new turn");
  const second = await run(client, { says: "In the evening, please" });
  assert.equal(second.outcome, "success");
  assert.match(second.text, /^LH429 it is\./);
}

/** A client of one conversation that prints what goes over the wire. @param {string} url @param {string} threadId */
function connect(url, threadId) {
  return new HttpAgent({
    url,
    threadId,
    async fetch(address, init) {
      console.log(`POST ${init.body}\n`);
      const response = await fetch(address, init);
      assert.equal(response.headers.get("content-type"), "text/event-stream");
      const tap = new TransformStream({
        transform(bytes, controller) {
          process.stdout.write(bytes);
          controller.enqueue(bytes);
        },
      });
      return new Response(response.body?.pipeThrough(tap) ?? null, response);
    },
  });
}

/** Runs once, as a user who says something or as one who answers. @param {HttpAgent} client @param {{ says?: string, resume?: ResumeEntry[] }} what */
async function run(client, { says, resume }) {
  const runId = `run-${++runs}`;
  if (says !== undefined) client.addMessage({ id: `message-${runs}`, role: "user", content: says });
  /** @type {Event[]} */
  const events = [];
  await client.runAgent(
    { runId, ...(resume === undefined ? {} : { resume }) },
    { onEvent: (of) => void events.push(of.event) },
  );
  const last = events.at(-1);
  // The client takes a stream that was cut off for a success.
  assert(last?.type === "RUN_FINISHED" || last?.type === "RUN_ERROR", "the run has a terminating event");
  return {
    types: events.map(({ type }) => type),
    text: events.map(({ type, delta }) => (type === "TEXT_MESSAGE_CONTENT" ? delta : "")).join(""),
    /** @type {string | undefined} */
    outcome: last.outcome?.type,
    result: last.result,
    error: last.code,
    /** @param {string} type */
    count: (type) => events.filter((event) => event.type === type).length,
    /** @param {string} name @returns {string | undefined} */
    toolCallNamed: (name) => events.find(({ toolCallName }) => toolCallName === name)?.toolCallId,
    /** @returns {Record<string, string>} */
    toolResults: () =>
      Object.fromEntries(
        events
          .filter(({ type }) => type === "TOOL_CALL_RESULT")
          .map(({ toolCallId, content }) => [toolCallId, content]),
      ),
  };
}

let runs = 0;

/** One answer for each question; the proof goes back as it came, inside the metadata. @param {Interrupt[]} interrupts @param {unknown[]} payloads */
function answer(interrupts, ...payloads) {
  const responses = interrupts.map(({ id, metadata = {} }, index) => {
    /** @type {[string, { status: "resolved", payload: unknown, metadata: typeof metadata }]} */
    const response = [id, { status: "resolved", payload: payloads[index], metadata }];
    return response;
  });
  return buildResumeArray(interrupts, Object.fromEntries(responses));
}

/** @param {Interrupt} interrupt @returns {string} */
function proofOf({ metadata }) {
  const { proof } = /** @type {{ proof?: unknown }} */ (metadata?.holdline ?? {});
  assert(typeof proof === "string" && proof.length === 43, "a question comes with a proof");
  return proof;
}

/** @param {string} words */
function title(words) {
  console.log(`\n── ${words}\n`);
}
