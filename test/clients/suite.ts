/**
 * What a person does through a client: asks, is asked, answers, approves, denies, gives up, answers two questions at once,
 * and answers a question of turn control by the next message. One suite, run through each client over real sockets.
 */
import { afterEach, describe, expect, it } from "vitest";
import type { Agent, HandlerOptions } from "../../src/index.ts";
import { type NodeAgent, nodeAgent } from "../support/node-agent.ts";

/** One person's answer to an open question, found by its message. */
export interface Reply {
  readonly to: string;
  /** Absent: the question is given up. */
  readonly payload?: unknown;
}

/** A client's conversation, as its application holds it. */
export interface Conversation {
  say(text: string): Promise<void>;
  reply(...replies: Reply[]): Promise<void>;
  /** The messages of the questions that the client shows as open, in order. */
  open(): string[];
  /** What the assistant has said so far, by what the client shows. */
  shown(): string;
  /** The code, or else the words, with which the last run failed or was refused. */
  error(): string | undefined;
  close?(): Promise<void>;
}

export interface ClientUnderTest {
  readonly name: string;
  /** Part of what it says where it cannot read that a run was cancelled, which came with protocol 1.0. Default: it can. */
  readonly failsOnCancelled?: string;
  /** Whether it forgets its open questions when an answer is refused; its application has to keep them then. Default `false`. */
  readonly forgetsRefused?: boolean;
  /** What the server has to be told for this client. */
  readonly options?: Omit<HandlerOptions, "agent" | "clock">;
  connect(agent: NodeAgent): Conversation | Promise<Conversation>;
}

/** An agent for all of it, and what its own code saw. */
function traveller(): { agent: Agent; seen: unknown[] } {
  const seen: unknown[] = [];
  const agent: Agent = async (context) => {
    switch (context.userText) {
      case "Ask": {
        seen.push(await context.input("Where to?"));
        break;
      }
      case "Count": {
        seen.push(await context.input("How many seats?", { jsonSchema: { type: "integer", minimum: 1 } }));
        break;
      }
      case "Book": {
        const book = () => {
          seen.push("booked");
          return "Booked.";
        };
        seen.push(await context.toolCall("book", { flight: "LH441" }, book, { approval: { message: "Book LH441?" } }));
        break;
      }
      case "Both": {
        seen.push(await Promise.all([context.input("From where?"), context.input("Where to?")]));
        break;
      }
      case "Later":
        return context.inputRequired("Which day?");
      default:
        seen.push(context.userText);
    }
    await context.text(`Noted: ${JSON.stringify(seen.at(-1))}.`);
    return undefined;
  };
  return { agent, seen };
}

export function describeClient({
  name,
  failsOnCancelled,
  forgetsRefused = false,
  options = {},
  connect,
}: ClientUnderTest): void {
  describe(name, () => {
    const open: Conversation[] = [];
    afterEach(async () => {
      for (const conversation of open.splice(0)) await conversation.close?.();
    });
    async function start() {
      const { agent, seen } = traveller();
      // The clients read their own clock, and compare a deadline with it.
      const server = await nodeAgent({ ...options, agent });
      const person = await connect(server);
      open.push(person);
      return { seen, server, person };
    }

    it("answers a question", async () => {
      const { person, seen, server } = await start();
      await person.say("Ask");
      expect(person.open()).toEqual(["Where to?"]);
      await person.reply({ to: "Where to?", payload: "Oslo" });
      expect([seen, person.open(), person.error()]).toEqual([["Oslo"], [], undefined]);
      expect(person.shown()).toContain('Noted: "Oslo".');
      expect(server.handler.stats()).toMatchObject({ held: 0, answered: 1 });
    });

    it("answers with what is no string, and is refused with what the question did not ask for, which costs nothing", async () => {
      const { person, seen, server } = await start();
      await person.say("Count");
      await person.reply({ to: "How many seats?", payload: 0 });
      expect(seen).toEqual([]);
      expect(person.error()).toMatch(/INTERRUPT_PAYLOAD_REFUSED|not what its interrupt asked for/);
      expect(server.handler.stats().held).toBe(1);
      expect(person.open()).toEqual(forgetsRefused ? [] : ["How many seats?"]);
      if (forgetsRefused) return;
      await person.reply({ to: "How many seats?", payload: 2 });
      expect(seen).toEqual([2]);
    });

    it("approves a tool's call", async () => {
      const { person, seen } = await start();
      await person.say("Book");
      expect(person.open()).toEqual(["Book LH441?"]);
      await person.reply({ to: "Book LH441?", payload: { approved: true } });
      expect(seen).toEqual(["booked", "Booked."]);
    });

    it("denies a tool's call, which is not run", async () => {
      const { person, seen } = await start();
      await person.say("Book");
      await person.reply({ to: "Book LH441?", payload: { approved: false } });
      expect(seen).toEqual(["User denied the tool call request"]);
      expect(person.shown()).toContain("Noted:");
    });

    const asOrdinary = failsOnCancelled === undefined ? it : undefined;
    asOrdinary?.("gives a question up, and goes on with an ordinary run", async () => {
      const { person, seen, server } = await start();
      await person.say("Ask");
      await person.reply({ to: "Where to?" });
      expect([seen, person.open(), person.error()]).toEqual([[], [], undefined]);
      expect(server.handler.stats()).toMatchObject({ held: 0, abandoned: 1 });
      await person.say("Hello");
      expect(seen).toEqual(["Hello"]);
    });

    const cutShort = failsOnCancelled === undefined ? undefined : it;
    cutShort?.("gives a question up, but cannot read what comes of it, and needs a new instance", async () => {
      const { person, seen, server } = await start();
      await person.say("Ask");
      await person.reply({ to: "Where to?" });
      expect(person.error()).toContain(failsOnCancelled);
      expect(server.handler.stats()).toMatchObject({ held: 0, abandoned: 1 });
      // It goes on to take the question for open, and sends nothing without an answer to it.
      expect(person.open()).toEqual(["Where to?"]);
      await person.say("Hello");
      expect(person.error()).toContain("pending interrupt(s) not addressed by resume");
      expect(seen).toEqual([]);
      const again = await connect(server);
      open.push(again);
      await again.say("Hello");
      expect(seen).toEqual(["Hello"]);
    });

    it("answers two questions at once, each in its place", async () => {
      const { person, seen } = await start();
      await person.say("Both");
      expect(person.open()).toEqual(["From where?", "Where to?"]);
      await person.reply({ to: "Where to?", payload: "Oslo" }, { to: "From where?", payload: "Zürich" });
      expect(seen).toEqual([["Zürich", "Oslo"]]);
    });

    it("shows a question of turn control as the assistant's words, and answers by the next message", async () => {
      const { person, seen } = await start();
      await person.say("Later");
      expect(person.open()).toEqual([]);
      expect(person.shown()).toContain("Which day?");
      await person.say("Friday");
      expect(seen).toEqual(["Friday"]);
    });
  });
}
