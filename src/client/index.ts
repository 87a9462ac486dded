/**
 * For clients of an agent that asks: answers that carry their proof, and requests that find their thread's process.
 * It runs wherever `fetch` does and brings nothing of the server.
 *
 * @module holdline/client
 */
export { type EchoProofsOptions, echoProofs } from "./echo-proofs.ts";
export { type Asked, abandon, answer } from "./resume-entries.ts";
export { type Fetch, threadFetch } from "./thread-fetch.ts";
