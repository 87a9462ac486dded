/**
 * What the agent's own closure keeps while it waits, and what the run's input keeps: the parts of a held
 * turn that no server could save. Run in a process of its own; prints bytes as JSON.
 */
import { runInput } from "../source.mjs";

const count = Number(process.argv[2]);
const kept = [];

function bytesEach(make) {
  const collect = () => {
    for (let i = 0; i < 3; i++) globalThis.gc();
    return process.memoryUsage().heapUsed;
  };
  const before = collect();
  for (let i = 0; i < count; i++) kept.push(make(i));
  const bytes = (collect() - before) / count;
  kept.length = 0;
  return bytes;
}

/** The agent of the figure, on a context that has one method and keeps who waits. */
const agent = async (context) => {
  const answer = context.userText === "plain" ? "yes" : await context.input("Book LH441? (yes/no)");
  await context.text(answer === "yes" ? "Booked LH441." : "Cancelled.");
};

const closure = bytesEach(() => {
  const context = {
    userText: "ask",
    resolve: undefined,
    input: () =>
      new Promise((resolve) => {
        context.resolve = resolve;
      }),
    text: async () => {},
  };
  return { context, done: agent(context) };
});

const text = (i) =>
  JSON.stringify(runInput(`12345-${i}`, { messages: [{ id: `user-${i}`, role: "user", content: "ask" }] }));
const input = bytesEach((i) => JSON.parse(text(i)));

console.log(JSON.stringify({ closure, input }));
