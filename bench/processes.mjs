/** The processes of the bench: every one is started here, and ended by its own handle. */
import { fork, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const children = new Set();
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});
process.on("SIGINT", () => process.exit(130));
process.on("SIGTERM", () => process.exit(143));

export const pathOf = (file) => fileURLToPath(new URL(file, import.meta.url));

const SLOWEST_START_MS = 30_000;

/**
 * Starts a server and resolves when it listens: `{ name, pid, port, admin, stop }`.
 * @param {string} name
 * @param {{ command?: string, args?: string[], cwd?: string }} [how] default: a variant under this Node
 */
export async function startServer(name, how = {}) {
  const { command = process.execPath, args = [pathOf("server.mjs"), name], cwd } = how;
  const stdio = ["ignore", "pipe", "pipe", ...(how.command === undefined ? ["ipc"] : [])];
  const child = spawn(command, args, { cwd, stdio, env: { ...process.env, NODE_ENV: "production" } });
  children.add(child);
  let errors = "";
  child.stderr.on("data", (data) => {
    errors = (errors + data).slice(-2_000);
  });
  const line = await new Promise((resolve, reject) => {
    let text = "";
    const late = setTimeout(() => reject(new Error(`${name} did not listen in time: ${errors}`)), SLOWEST_START_MS);
    child.stdout.on("data", (data) => {
      text += data;
      const found = /^\{"port".*\}$/m.exec(text);
      if (found === null) return;
      clearTimeout(late);
      resolve(found[0]);
    });
    child.on("exit", (code) => {
      clearTimeout(late);
      reject(new Error(`${name} exited with ${code}: ${errors}`));
    });
  });
  const stop = () => {
    children.delete(child);
    child.kill("SIGKILL");
  };
  return { name, pid: child.pid, stop, ...JSON.parse(line) };
}

/** A server of ours for a figure that needs its garbage collected on demand. */
export const startCollected = (name) =>
  startServer(name, { command: process.execPath, args: ["--expose-gc", pathOf("server.mjs"), name] });

/** Reads a server's numbers, and changes its settings: `order(server, { n: 20 })`. */
export async function order(server, orders = {}) {
  const response = await fetch(`http://127.0.0.1:${server.admin}/?${new URLSearchParams(orders)}`);
  return response.json();
}

/** CPU seconds of a process that has no admin port (Linux: ticks of 10 ms). */
export function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Forgets a process's peak of memory; where that is not allowed the peak is its life's. */
export function resetPeak(pid) {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  } catch {}
}

/** MiB, or `undefined` where /proc is not. */
export function peakOf(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
  } catch {
    return undefined;
  }
}

/** The load client, in a process of its own: `load(order)` resolves to what it measured. */
export function startClient() {
  const child = fork(pathOf("client/client.mjs"), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  children.add(child);
  return (load) =>
    new Promise((resolve, reject) => {
      child.once("message", (result) => {
        if (result.error === undefined) resolve(result);
        else reject(new Error(`${load.scenario}: ${result.error}`));
      });
      child.send(load);
    });
}
