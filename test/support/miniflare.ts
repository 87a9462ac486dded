/** A fixture on Cloudflare's own engine, over real HTTP, with neither eval nor Node's modules. */
import { Miniflare, type MiniflareOptions } from "miniflare";
import type { Instance } from "../conformance/instance.ts";
import { bundleFixture } from "./bundle-fixture.ts";

export interface WorkerdOptions {
  /** Default: those of `wrangler.toml`. */
  readonly compatibilityFlags?: string[];
  /** Variables of the Worker's environment. */
  readonly bindings?: Record<string, number>;
  /** Where the objects' storage outlives the Worker. Default: nowhere. */
  readonly storage?: string;
  /** Bindings of Durable Objects. */
  readonly durableObjects?: Record<string, { className: string; useSQLite: boolean }>;
}

/** The date that `wrangler.toml` names, too. */
export const COMPATIBILITY_DATE = "2026-04-01";

/** And its flags. */
export const COMPATIBILITY_FLAGS = ["enable_request_signal", "durable_object_io_tasks_prevent_eviction"];

/** Starts a Worker from its text. Sent a request after `ready`. */
export function startWorker(
  script: string,
  { compatibilityFlags = COMPATIBILITY_FLAGS, bindings = {}, storage, durableObjects = {} }: WorkerdOptions = {},
): Miniflare {
  const options: MiniflareOptions = {
    host: "127.0.0.1",
    port: 0,
    cf: false,
    modules: [{ type: "ESModule", path: "worker.mjs", contents: script }],
    compatibilityDate: COMPATIBILITY_DATE,
    compatibilityFlags,
    bindings,
    durableObjects,
    ...(storage === undefined ? {} : { durableObjectsPersist: storage }),
  };
  return new Miniflare(options);
}

/** Serves a fixture of the suite's: it answers `/control/…` itself and serves the agent everywhere else. */
export async function serveWorker(name: string, options?: WorkerdOptions): Promise<Instance> {
  const script = await bundleFixture(name, "worker");
  let miniflare = startWorker(script, options);
  let url = (await miniflare.ready).href;
  return {
    get url() {
      return url;
    },
    post: (request) => fetch(request),
    async control(path) {
      return (await fetch(new URL(`/control${path}`, url))).json();
    },
    get pingUrl() {
      return new URL("/control/ping", url).href;
    },
    async restart() {
      await miniflare.dispose();
      miniflare = startWorker(script, options);
      url = (await miniflare.ready).href;
    },
    stop: () => miniflare.dispose(),
  };
}
