/**
 * A travel desk: a model in front, and tools that ask the human in the middle of what they do. What
 * the model says and calls is the model's; what is asked, and how it goes on, is here.
 */
import { randomInt } from "node:crypto";
import { tool } from "ai";
import { aiAgent, approval, contextOf } from "holdline/ai-sdk";
import { z } from "zod";

/** @import { Agent, AgentContext, ToolContext } from "holdline" */
/** @import { LanguageModel } from "ai" */

/**
 * @param {(threadId: string, line: string) => void} tell Hears what the agent does, as it does it.
 * @param {LanguageModel} model
 * @returns {Agent}
 */
export function createAgent(tell, model) {
  /** What was done since the start. A turn that is asked, answered and goes on is one turn. */
  const done = { turns: 0, seatsHeld: 0, flightsBooked: 0, nightsBooked: 0, refunds: 0 };
  /** Seats that are held now. A symbol has no copy: only the variable that holds one can give it back.
   * @type {Set<symbol>} */
  const seats = new Set();

  const desk = aiAgent({
    model,
    instructions:
      "You are a travel desk. Search flights before you book one. The tools ask the traveller themselves before they do anything. The only booking is K7Q2MX, of 412 EUR.",
    tools: {
      search_flights: tool({
        description: "Find the next flight to a city.",
        inputSchema: z.object({ to: z.string() }),
        execute: () => ({ flight: "LH441", leaves: "16:05" }),
      }),
      book_flight: tool({
        description: "Book a flight, once the traveller confirms it.",
        inputSchema: z.object({ flight: z.string() }),
        execute: ({ flight }, options) => bookFlight(flight, contextOf(options)),
      }),
      book_hotel: tool({
        description: "Book a hotel for as many nights as the traveller says.",
        inputSchema: z.object({ city: z.string() }),
        execute: ({ city }, options) => bookHotel(city, contextOf(options)),
      }),
      // Runs only with the human's approval.
      refund_booking: approval(
        tool({
          description: "Refund a booking.",
          inputSchema: z.object({ booking: z.string(), euros: z.number().positive() }),
          execute: ({ booking, euros }, options) => refund(booking, euros, contextOf(options)),
        }),
        { message: ({ args }) => wordRefund(/** @type {{ booking: string, euros: number }} */ (args)) },
      ),
    },
  });

  return async (context) => {
    done.turns++;
    tell(context.threadId, `the agent's function is entered (turn ${done.turns})`);
    // The desk's own books, which no model has to be asked about.
    if (/\breport\b/i.test(context.userText)) return report(context);
    return desk(context);
  };

  /** @param {string} flight @param {ToolContext} context */
  async function bookFlight(flight, context) {
    // These two exist nowhere but here. While the human thinks, this function simply waits in the middle.
    const seat = Symbol(`seat ${randomInt(10, 40)}C`);
    const since = performance.now();
    seats.add(seat);
    done.seatsHeld++;
    try {
      await context.text(`I am holding ${seat.description} on ${flight} for you.`);
      tell(context.threadId, `book_flight holds ${seat.description} in a local variable, and asks`);
      const answer = await context.input(`Book ${flight}? (yes/no)`);
      const waited = ((performance.now() - since) / 1000).toFixed(1);
      tell(context.threadId, `book_flight goes on where it stopped, ${waited} s later, with ${seat.description}`);
      if (answer.trim().toLowerCase() !== "yes") return `${flight} was not booked.`;
      if (!seats.delete(seat)) throw new Error("This seat is not held.");
      done.flightsBooked++;
      tell(context.threadId, `book_flight books ${seat.description}`);
      return `Booked: ${seat.description} on ${flight}.`;
    } finally {
      // Also when the client leaves, the question is given up or times out, or the server closes: then `input` rejects.
      if (seats.delete(seat)) tell(context.threadId, `book_flight gives ${seat.description} back`);
    }
  }

  /** @param {string} city @param {ToolContext} context */
  async function bookHotel(city, context) {
    await context.text(`There are rooms in ${city}.`);
    tell(context.threadId, "book_hotel asks, too");
    const jsonSchema = { type: "integer", minimum: 1, maximum: 30, examples: [2] };
    /** @type {number} */
    const nights = await context.input(`How many nights in ${city}?`, { jsonSchema });
    tell(context.threadId, `book_hotel goes on with the number ${nights}`);
    done.nightsBooked += nights;
    return `${nights} nights in ${city}.`;
  }

  /** @param {string} booking @param {number} euros @param {ToolContext} context */
  function refund(booking, euros, context) {
    tell(context.threadId, "refund_booking was approved, and runs");
    done.refunds++;
    return `${euros} EUR for ${booking} are on their way.`;
  }

  /** @param {AgentContext} context */
  async function report(context) {
    await context.text("This is what I have done since I started.");
    return { ...done, seatsHeldNow: seats.size };
  }
}

/** @param {{ booking: string, euros: number }} args */
const wordRefund = ({ booking, euros }) => `Refund ${euros} EUR for ${booking}?`;
