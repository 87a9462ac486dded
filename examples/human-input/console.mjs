/** The console beside an agent, at the same address: browsers that come for a page get one to talk to it with. */
import { browserOf, consolePage } from "holdline/console";

/** @import { Handler } from "holdline" */

/** Who the page's browser is; a reload gets its open question back. `null` for any other client. */
export { browserOf as identify };

/**
 * The same handler, and the page for whoever asks for HTML.
 * @param {Handler} handler
 * @returns {Handler}
 */
export function withConsole(handler) {
  const page = consolePage({ endpoint: "/", title: "Travel desk" });
  return Object.create(handler, {
    exchange: {
      /** @type {Handler["exchange"]} */
      async value(request, outlet, options) {
        const wantsPage = request.method === "GET" && request.headers.get("accept")?.includes("text/html");
        const asked = wantsPage ? request.toRequest?.() : undefined;
        if (asked === undefined) return handler.exchange(request, outlet, options);
        const answer = await page(asked);
        return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() };
      },
    },
  });
}
