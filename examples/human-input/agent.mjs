/**
 * A travel desk with no model behind it: the words it is sent decide what it does, so every run is
 * alike. What it asks for, and how it goes on, is what an agent with a model would write too.
 */
import { randomInt } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

/** @import { Agent, AgentContext, ToolContext } from "holdline" */

/**
 * @param {(threadId: string, line: string) => void} tell Hears what the agent does, as it does it.
 * @returns {Agent}
 */
export function createAgent(tell) {
  /** What was done since the start. A turn that is asked, answered and goes on is one turn. */
  const done = { turns: 0, seatsHeld: 0, flightsBooked: 0, nightsBooked: 0, refunds: 0 };
  /** Seats that are held now. A symbol has no copy: only the variable that holds one can give it back.
   * @type {Set<symbol>} */
  const seats = new Set();

  return async (context) => {
    done.turns++;
    tell(context.threadId, `the agent's function is entered (turn ${done.turns})`);
    const words = context.userText.toLowerCase();
    if (words.includes("help me choose")) return choose(context);
    if (/afternoon|evening/.test(words)) return chosen(context, words.includes("evening") ? "LH429" : "LH441");
    if (words.includes("trip")) return planTrip(context);
    if (/refund|delete/.test(words)) return refundBooking(context);
    if (words.includes("book")) return bookJourney(context);
    if (words.includes("report")) return report(context);
    await say(context, 'Try "book", "refund", "trip", "help me choose" or "report".');
  };

  /** Asks once, in the middle of a tool. @param {AgentContext} context */
  async function bookJourney(context) {
    await say(context, "Let me see what flies to Frankfurt.");
    const { flight, leaves } = await context.toolCall("search_flights", { to: "Frankfurt" }, () => ({
      flight: "LH441",
      leaves: "16:05",
    }));
    await say(context, `There is ${flight}, leaving at ${leaves}.`);
    await say(context, await context.toolCall("book_flight", { flight }, bookFlight));
  }

  /** @param {{ flight: string }} args @param {ToolContext} tool */
  async function bookFlight({ flight }, tool) {
    // These two exist nowhere but here. While the human thinks, this function simply waits in the middle.
    const seat = Symbol(`seat ${randomInt(10, 40)}C`);
    const since = performance.now();
    seats.add(seat);
    done.seatsHeld++;
    try {
      await tool.text(`I am holding ${seat.description} on ${flight} for you.`);
      tell(tool.threadId, `book_flight holds ${seat.description} in a local variable, and asks`);
      const answer = await tool.input(`Book ${flight}? (yes/no)`);
      const waited = ((performance.now() - since) / 1000).toFixed(1);
      tell(tool.threadId, `book_flight goes on where it stopped, ${waited} s later, with ${seat.description}`);
      if (answer.trim().toLowerCase() !== "yes") return `${flight} was not booked.`;
      if (!seats.delete(seat)) throw new Error("This seat is not held.");
      done.flightsBooked++;
      tell(tool.threadId, `book_flight books ${seat.description}`);
      return `Booked: ${seat.description} on ${flight}.`;
    } finally {
      // Also when the client leaves, the question is given up or times out, or the server closes: then `input` rejects.
      if (seats.delete(seat)) tell(tool.threadId, `book_flight gives ${seat.description} back`);
    }
  }

  /** Asks two things at once, from two tools that run side by side. @param {AgentContext} context */
  async function planTrip(context) {
    await say(context, "A flight and a hotel, then.");
    const results = await Promise.all([
      context.toolCall("book_flight", { flight: "LH441" }, bookFlight),
      context.toolCall("book_hotel", { city: "Frankfurt" }, bookHotel),
    ]);
    await say(context, results.join(" "));
  }

  /** @param {{ city: string }} args @param {ToolContext} tool */
  async function bookHotel({ city }, tool) {
    await tool.text(`There are rooms in ${city}.`);
    tell(tool.threadId, "book_hotel asks, too");
    const jsonSchema = { type: "integer", minimum: 1, maximum: 30, examples: [2] };
    /** @type {number} */
    const nights = await tool.input(`How many nights in ${city}?`, { jsonSchema });
    tell(tool.threadId, `book_hotel goes on with the number ${nights}`);
    done.nightsBooked += nights;
    return `${nights} nights in ${city}.`;
  }

  /** Runs a tool only with the human's approval. @param {AgentContext} context */
  async function refundBooking(context) {
    await say(context, "That booking can still be refunded.");
    const result = await context.toolCall(
      "refund_booking",
      { booking: "K7Q2MX", euros: 412 },
      ({ booking, euros }) => {
        tell(context.threadId, "refund_booking was approved, and runs");
        done.refunds++;
        return `${euros} EUR for ${booking} are on their way.`;
      },
      { approval: { message: "Refund 412 EUR for K7Q2MX?" } },
    );
    tell(context.threadId, `refund_booking came to: ${result}`);
    await say(context, result);
  }

  /** Ends the turn with a question: nothing waits, the reply is a new turn. @param {AgentContext} context */
  async function choose(context) {
    await say(context, "Two flights are left.");
    tell(context.threadId, "the turn ends with a question, and nothing is held");
    return context.inputRequired("Would you rather leave in the afternoon (LH441) or in the evening (LH429)?");
  }

  /** @param {AgentContext} context @param {string} flight */
  async function chosen(context, flight) {
    await say(context, `${flight} it is. Write "book" and I will ask once more before I do.`);
  }

  /** @param {AgentContext} context */
  async function report(context) {
    await say(context, "This is what I have done since I started.");
    return { ...done, seatsHeldNow: seats.size };
  }
}

/**
 * Streams a sentence as a model would: in pieces, with time between them.
 * @param {AgentContext | ToolContext} context @param {string} sentence
 */
async function say(context, sentence) {
  await context.text(pieces(sentence));
}

/** @param {string} sentence */
async function* pieces(sentence) {
  for (const words of sentence.match(/(?:\S+\s*){1,3}/g) ?? []) {
    yield words;
    await pause(30);
  }
}
