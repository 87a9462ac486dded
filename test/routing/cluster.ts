/** Processes of an agent and a proxy in front of them, on the configurations of `examples/deploy` with other ports. */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { programPath } from "../support/child.ts";
import { freePort } from "../support/programs.ts";
import { within } from "../support/promises.ts";

/** What a process says: see `routed-agent.mjs`. */
export interface Said {
  readonly port?: number;
  readonly left?: string;
  readonly warned?: string;
  readonly threadId?: string;
}

/** One of the processes. */
export interface Member {
  readonly pid: number;
  readonly port: number;
  readonly said: Said[];
  /** Lets its streaming agents go on. */
  goOn(): void;
  kill(): Promise<void>;
}

const open: ChildProcess[] = [];
const folders: string[] = [];

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

/** For the top of a file that starts any: they are gone after its tests. */
export function endAfterAll(): void {
  afterAll(async () => {
    for (const child of open.splice(0)) await end(child);
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
}

/** Starts a process of the agent's, on any free port. */
export async function startMember(): Promise<Member> {
  const child = fork(programPath("routed-agent.mjs"), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  open.push(child);
  const said: Said[] = [];
  child.on("message", (message) => said.push(message as Said));
  await within(30_000, once(child, "message"), "the process's port");
  return {
    pid: child.pid as number,
    port: said[0]?.port as number,
    said,
    goOn: () => void child.send("go on"),
    kill: () => end(child),
  };
}

const example = (name: string) => readFileSync(new URL(`../../examples/deploy/${name}`, import.meta.url), "utf8");

/** A text with something replaced that has to be there. */
function replaced(text: string, from: string | RegExp, to: string): string {
  const result = text.replace(from, () => to);
  if (result === text) throw new Error(`There is no ${from} in the example.`);
  return result;
}

/** The configuration in front of these ports; a fourth server and those after it are written as the third is. */
function withPorts(config: string, front: number, ports: readonly number[]): string {
  const [third = ""] = /^.*127\.0\.0\.1:8903.*$/m.exec(config) ?? [];
  const lines = ports
    .slice(2)
    .map((port, index) => third.replace("8903", `${port}`).replace("agent-3", `agent-${index + 3}`));
  const [first, second] = ports;
  let text = replaced(config, third, lines.join("\n"));
  text = replaced(text, /(?<=127\.0\.0\.1:)8900/, `${front}`);
  text = replaced(text, /(?<=127\.0\.0\.1:)8901/, `${first}`);
  return replaced(text, /(?<=127\.0\.0\.1:)8902/, `${second}`);
}

export type ProxyKind = "haproxy" | "nginx" | "round robin";

/** Puts a proxy's configuration into a file in a folder of its own. */
export function temporaryConfig(text: string | ((folder: string) => string)): string {
  const folder = mkdtempSync(join(tmpdir(), "holdline-proxy-"));
  folders.push(folder);
  const file = join(folder, "proxy.conf");
  writeFileSync(file, typeof text === "string" ? text : text(folder));
  return file;
}

/** What stands around a `conf.d` file: one process, and everything it writes in one folder. */
const nginxConfig = (folder: string, http: string): string =>
  [
    `daemon off; master_process off; pid ${folder}/pid;`,
    "events {}",
    "http { access_log off;",
    ...["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((it) => `${it}_temp_path ${folder}/${it};`),
    http,
    "}",
  ].join("\n");

/** Starts a proxy in front of three or more processes and gives its address. */
export async function startProxy(kind: ProxyKind, members: readonly Pick<Member, "port">[]): Promise<string> {
  const front = await freePort();
  const ports = members.map(({ port }) => port);
  const file = temporaryConfig((folder) => {
    if (kind === "nginx") return nginxConfig(folder, withPorts(example("nginx.conf"), front, ports));
    const config = withPorts(example("haproxy.cfg"), front, ports);
    return kind === "haproxy" ? config : replaced(config, "balance hash var(txn.thread)", "balance roundrobin");
  });
  const child =
    kind === "nginx"
      ? spawn("/usr/sbin/nginx", ["-e", join(file, "../errors"), "-c", file], { stdio: "ignore" })
      : spawn("/usr/sbin/haproxy", ["-db", "-q", "-f", file], { stdio: "ignore" });
  open.push(child);
  const url = `http://127.0.0.1:${front}/`;
  for (const late = Date.now() + 30_000; ; await new Promise((resolve) => setTimeout(resolve, 20))) {
    const listens = await fetch(url)
      .then(({ ok }) => ok)
      .catch(() => false);
    if (listens) return url;
    if (child.exitCode !== null || Date.now() > late)
      throw new Error(`${kind} does not serve:\n${readFileSync(file, "utf8")}`);
  }
}

const SERVER = fileURLToPath(new URL("../../examples/deploy/server.mjs", import.meta.url));

/** Starts the example's own server at any free port. */
export async function startExample(): Promise<Pick<Member, "port">> {
  const port = await freePort();
  const child = spawn(process.execPath, [SERVER], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  open.push(child);
  await once(child.stdout as NonNullable<typeof child.stdout>, "data");
  return { port };
}
