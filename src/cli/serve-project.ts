/** Serves a project on a port: its agent at `/agent`, the console at `/`. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { toNodeListener } from "../../adapters/node.ts";
import { isLoopback } from "../console/admin.ts";
import { browserOf, consolePage } from "../console/index.ts";
import { type Agent, createHandler } from "../index.ts";
import type { ProjectTool } from "../project/index.ts";
import { describeOptions, describeTools } from "./admin-facts.ts";
import { modelAgent } from "./engine/openai-compatible.ts";
import { scriptedAgent } from "./engine/scripted.ts";
import type { Project } from "./load-project.ts";

export interface Served {
  /** Of the console. */
  readonly url: string;
  /** Of the agent. */
  readonly agentUrl: string;
  close(): Promise<void>;
}

/** Rejects as `listen` does, with `EADDRINUSE` for a port that is taken. */
export async function serveProject(project: Project, { host, port }: { host: string; port: number }): Promise<Served> {
  const { config } = project;
  const handler = createHandler({
    agent: await createAgent(project),
    retention: withoutUndefined(config.retention),
    identify: browserOf,
    validate: true,
    capabilities: {
      identity: { name: config.name },
      // Which the tools say here, each for itself; the handler knows of its own options only.
      humanInTheLoop: { approveWithEdits: [...project.tools.values()].some(allowsEdits) },
    },
  });
  const page = consolePage({
    endpoint: "/agent",
    title: config.name,
    admin: { handler, tools: describeTools(project), options: describeOptions(project) },
  });
  const serveAgent = toNodeListener(handler);
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    // A page of another site whose name was made to point here (DNS rebinding) would otherwise speak as this one.
    if (isLoopback(host) && !isLoopback(hostOf(request))) {
      return answer(response, 421, `This server answers to its own address only, not to ${hostOf(request)}.\n`);
    }
    if (pathname === "/agent") return serveAgent(request, response);
    if (pathname === "/") return void servePage(page, request, response);
    answer(response, 404, "The console is at /, the agent at /agent.\n");
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as { port: number };
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${address.port}/`;
  return {
    url,
    agentUrl: `${url}agent`,
    async close() {
      await handler.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function createAgent({ config, instructions, tools, turnControl, script, imports }: Project): Agent | Promise<Agent> {
  if (script !== undefined) return scriptedAgent({ script, tools, turnControl: turnControl !== false });
  const { engine } = config;
  if (engine.provider !== "openai-compatible") throw new TypeError("The scripted engine needs a script.");
  return modelAgent({ engine, instructions, tools, turnControl, importFromProject: imports.package });
}

const allowsEdits = ({ approval }: ProjectTool): boolean =>
  typeof approval === "object" && approval.allowEdits === true;

async function servePage(page: ReturnType<typeof consolePage>, request: IncomingMessage, response: ServerResponse) {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  const url = `http://${request.headers.host ?? "localhost"}${request.url ?? "/"}`;
  const asked = new Request(url, { method: request.method ?? "GET", headers });
  const given = await page(asked, { address: request.socket.remoteAddress });
  response.writeHead(given.status, Object.fromEntries(given.headers));
  response.end(Buffer.from(await given.arrayBuffer()));
}

/** The host name a request was sent to, without its port. */
function hostOf(request: IncomingMessage): string {
  const host = request.headers.host ?? "";
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, "") : host;
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
  response.end(text);
}

function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as never;
}
