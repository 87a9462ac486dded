/** What docs/deploy.md and examples/deploy say: shown as it is run, checked against the sources and against each other. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parseAllDocuments } from "yaml";
import { LINGER_MS } from "../../adapters/_serve.ts";
import { settle } from "../../src/core/settings.ts";
import { THREAD_HEADER } from "../../src/core/thread-header.ts";
import { build } from "../support/child.ts";
import { literalsOf } from "../support/declarations.ts";
import { codesIn, readPage } from "../support/markdown.ts";
import { ProgramFolder, runProgram } from "../support/programs.ts";
import { endAfterAll, startExample, startProxy, temporaryConfig } from "./cluster.ts";

endAfterAll();

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string) => readFileSync(root + path, "utf8");
const page = readPage(read("docs/deploy.md"));
const folder = new ProgramFolder("deploy");

beforeAll(build);
afterAll(() => folder.dispose());

describe("docs/deploy.md", () => {
  it("shows the files that are run", () => {
    const [haproxy, nginx, header, ...more] = page.blocks;
    expect(haproxy?.text).toBe(read("examples/deploy/haproxy.cfg"));
    expect(nginx?.text).toBe(read("examples/deploy/nginx.conf"));
    expect(header?.language).toBe("ts");
    expect(more).toEqual([]);
  });

  it("has a client that asks through a proxy", async () => {
    const program = page.blocks[2]?.text ?? "";
    const found = await folder.typecheck([program, `${program}const wrong: number = client.url;\n`]);
    expect(found).toEqual([expect.stringMatching(/checked-1\.ts\(\d+,7\): error TS2322:/)]);
    const url = await startProxy("nginx", await Promise.all([startExample(), startExample(), startExample()]));
    expect(program).toContain("http://127.0.0.1:8900/");
    const ran = await runProgram(process.execPath, [folder.compile(program.replace("http://127.0.0.1:8900/", url))]);
    expect(ran).toEqual({ code: 0, stdout: "Book LH441? (yes/no)\n", stderr: "" });
  });

  it("says what a client does on every cause", () => {
    const table = page.tables.find(({ columns }) => columns[0] === "cause");
    expect(table?.rows.map(([cause = ""]) => codesIn(cause)[0])).toEqual(
      literalsOf("src/core/errors.ts", "InterruptCause"),
    );
    expect(table?.rows.every(([, what]) => what !== undefined && what.length > 20)).toBe(true);
  });

  it("links to what is there", () => {
    const links = [...page.prose.values()].flatMap((text) =>
      [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, to = ""]) => to),
    );
    expect(links.length).toBeGreaterThan(1);
    for (const link of links) {
      const [path = "", anchor = ""] = link.split("#");
      expect(existsSync(`${root}docs/${path}`)).toBe(true);
      const anchors = readPage(read(`docs/${path}`)).headings.map((it) => it.toLowerCase().replaceAll(" ", "-"));
      if (anchor !== "") expect(anchors).toContain(anchor);
    }
  });
});

describe("the Kubernetes manifests", () => {
  // biome-ignore lint/suspicious/noExplicitAny: a manifest is what Kubernetes says it is.
  const manifests = (name: string): any[] =>
    parseAllDocuments(read(`examples/deploy/kubernetes/${name}`)).map((document) => {
      expect(document.errors).toEqual([]);
      return document.toJS();
    });
  const [deployment, service] = manifests("agent.yaml");
  const [nginx] = manifests("ingress-nginx.yaml");
  const [haproxy] = manifests("ingress-haproxy.yaml");
  const pod = deployment.spec.template;
  const [container] = pod.spec.containers;
  const server = read("examples/deploy/server.mjs");
  const numberIn = (name: string): number =>
    Number(new RegExp(`\\b${name}: ([\\d_]+)`).exec(server)?.[1]?.replaceAll("_", ""));

  it("give a process the time it takes to end", () => {
    const drainMs = numberIn("drainMs");
    const { closeTimeoutMs } = settle({ agent: async () => {} });
    const needed = drainMs + numberIn("graceMs") + closeTimeoutMs + LINGER_MS;
    expect(needed).toBe(81_000);
    expect(pod.spec.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(needed);
    const { periodSeconds, failureThreshold } = container.readinessProbe;
    expect(periodSeconds * failureThreshold * 1_000).toBeLessThan(drainMs);
  });

  it("name each other and what the server reads", () => {
    expect(pod.metadata.labels).toEqual(deployment.spec.selector.matchLabels);
    expect(service.spec.selector).toEqual(pod.metadata.labels);
    const [port] = container.ports;
    expect(service.spec.ports[0].targetPort).toBe(port.name);
    expect(container.readinessProbe.httpGet).toEqual({
      path: /healthPath: "([^"]+)"/.exec(server)?.[1],
      port: port.name,
    });
    for (const { name } of container.env) expect(server).toContain(`process.env.${name}`);
    expect(container.env).toContainEqual({ name: "PORT", value: String(port.containerPort) });
    expect(container.env).toContainEqual({ name: "HOST", value: "0.0.0.0" });
    for (const ingress of [nginx, haproxy]) {
      const [{ backend }] = ingress.spec.rules[0].http.paths;
      expect(backend.service).toEqual({ name: service.metadata.name, port: { name: service.spec.ports[0].name } });
    }
  });

  it("hash the header of threadFetch", () => {
    const { annotations } = nginx.metadata;
    const variable = `$http_${THREAD_HEADER.replaceAll("-", "_")}`;
    expect(annotations["nginx.ingress.kubernetes.io/upstream-hash-by"]).toBe(variable);
    expect(read("examples/deploy/nginx.conf")).toContain(`hash ${variable} consistent;`);
    expect(haproxy.metadata.annotations["haproxy.org/load-balance"]).toBe(`hdr(${THREAD_HEADER})`);
  });

  it("have HAProxy lines that HAProxy takes", async () => {
    const { annotations } = haproxy.metadata;
    const check = (snippet: string) =>
      runProgram("/usr/sbin/haproxy", [
        "-c",
        "-f",
        temporaryConfig(
          [
            "defaults\n  mode http\n  timeout connect 2s\n  timeout client 1h\n  timeout server 1h",
            "frontend runs\n  bind 127.0.0.1:8900\n  default_backend agents",
            `backend agents\n  balance ${annotations["haproxy.org/load-balance"]}\n  server a 127.0.0.1:8901`,
            snippet,
          ].join("\n"),
        ),
      ]);
    const snippet = annotations["haproxy.org/backend-config-snippet"];
    expect((await check(snippet)).code).toBe(0);
    expect((await check(`${snippet}option no-such-thing\n`)).code).not.toBe(0);
  });
});
