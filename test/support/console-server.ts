/** An agent and the console on one server, mounted by hand as an application would. */
import { createServer } from "node:http";
import type { ConsoleOptions } from "../../src/console/index.ts";
import type { Agent, Handler, HandlerOptions } from "../../src/index.ts";
import { built } from "./built.ts";

export interface ConsoleServer {
  readonly url: string;
  readonly handler: Handler;
  close(): Promise<void>;
}

export async function serveConsole(
  agent: Agent,
  options: Omit<HandlerOptions, "agent"> = {},
  page: Partial<ConsoleOptions> = {},
): Promise<ConsoleServer> {
  const { createHandler } = await built("index");
  const { toNodeListener } = await built("node");
  const { browserOf, consolePage } = await built("console");
  const handler = createHandler({ agent, identify: browserOf, validate: true, ...options });
  const serveAgent = toNodeListener(handler);
  const servePage = consolePage({ endpoint: "/agent", title: "Another agent", ...page });
  const server = createServer((request, response) => {
    if (request.url === "/agent") return serveAgent(request, response);
    const asked = new Request(`http://${request.headers.host}${request.url}`, { method: request.method ?? "GET" });
    void servePage(asked, { address: request.socket.remoteAddress }).then(async (given) => {
      response.writeHead(given.status, Object.fromEntries(given.headers));
      response.end(Buffer.from(await given.arrayBuffer()));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/some/where`,
    handler,
    async close() {
      await handler.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
