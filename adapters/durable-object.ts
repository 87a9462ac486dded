/**
 * Holdline on Cloudflare with held turns: one Durable Object per thread holds its turn, and a Worker in front
 * finds it. The Worker answers OPTIONS, GET and everything that is no run, and says who is calling; an
 * object is only ever reached by a run, for the identity that the Worker names.
 *
 * @module holdline/durable-object
 */
import { createGate, createHandler, type Handler, type HandlerOptions } from "../src/index.ts";

/** The members used of a Durable Object's state. */
export interface ThreadObjectState {
  readonly storage: {
    setAlarm(at: number): Promise<void>;
    deleteAlarm(): Promise<void>;
  };
}

/** A Durable Object that serves the runs of one thread. */
export interface ThreadObject {
  /** Serves a run that `routeThreads` sends; nothing else may reach it. */
  fetch(request: Request): Promise<Response>;
  /** Keeps the object in memory while it holds a turn. */
  alarm(): Promise<void>;
}

/** A stub of a thread's object. */
export interface ThreadStub {
  fetch(request: Request): Promise<Response>;
}

/** The members used of a Durable Object namespace. */
export interface ThreadNamespace {
  idFromName(name: string): unknown;
  get(id: never): ThreadStub;
}

/** Where a thread's object is: the name of a namespace's binding, or what gives its stub. */
export type ThreadRoute<Env> =
  | { binding: string }
  /** For a jurisdiction or a location hint; `threadName` gives a name under which no two threads meet. */
  | { stub: (env: Env, threadId: string, identity: string | null) => ThreadStub };

/** Options of `createThreadObject`. */
export interface ThreadObjectOptions {
  /**
   * Milliseconds between the alarms that keep an object in memory while it holds a turn. Default 5 000: the local runtime
   * drops an idle object after 10 seconds. 0: none, and a turn is held for as long as the platform keeps an idle object.
   */
  heartBeatMs?: number;
}

/** What carries the identity from the Worker to the object. A client's own is dropped on the way. */
const IDENTITY = "x-holdline-identity";

/**
 * Makes the class of the objects: `export class AgentThread extends createThreadObject((env) => ({ agent })) {}`.
 * `hold` is always `true`, and `identify` is left to `routeThreads`. The options are made once for each object.
 * An object trusts the identity it is sent: send it nothing but what `routeThreads` sends.
 */
export function createThreadObject<Env = unknown>(
  options: (env: Env, state: ThreadObjectState) => HandlerOptions,
  { heartBeatMs = 5_000 }: ThreadObjectOptions = {},
): new (
  state: ThreadObjectState,
  env: Env,
) => ThreadObject {
  if (!(Number.isFinite(heartBeatMs) && heartBeatMs >= 0)) {
    throw new RangeError("heartBeatMs must be a finite number of milliseconds, 0 or more.");
  }
  return class implements ThreadObject {
    readonly #handler: Handler;
    readonly #state: ThreadObjectState;
    #beating = false;

    constructor(state: ThreadObjectState, env: Env) {
      const given = options(env, state);
      this.#state = state;
      this.#handler = createHandler({
        ...given,
        hold: true,
        onHold: (held) => {
          if (heartBeatMs > 0) this.#keepAwake(held > 0);
          given.onHold?.(held);
        },
      });
    }

    async fetch(request: Request): Promise<Response> {
      const identity = readIdentity(request.headers.get(IDENTITY));
      if (identity === undefined) {
        return problem(
          403,
          "NOT_ROUTED",
          "A thread's object serves only what routeThreads of holdline/durable-object sends it.",
        );
      }
      return this.#handler.handle(request, { identity });
    }

    /** Being called is all an alarm is for: it makes the object count as busy. After a restart there is nothing to keep. */
    async alarm(): Promise<void> {
      if (this.#beating) await this.#state.storage.setAlarm(Date.now() + heartBeatMs);
    }

    /** The answer that carries the question leaves only when the alarm is stored: the platform sees to that. */
    #keepAwake(holds: boolean): void {
      if (holds === this.#beating) return;
      this.#beating = holds;
      const { storage } = this.#state;
      // Where storage fails the platform drops the object, and with it the answer that waits for it.
      (holds ? storage.setAlarm(Date.now() + heartBeatMs) : storage.deleteAlarm()).catch(() => {});
    }
  };
}

/** The Worker that `routeThreads` makes. Mounts in a Hono app too: `(c) => worker.fetch(c.req.raw, c.env)`. */
export interface ThreadsWorker<Env> {
  /** Serves one request: by itself, or by the object of its thread. */
  fetch(request: Request, env: Env, context?: unknown): Promise<Response>;
}

/**
 * Makes the Worker in front: `export default routeThreads({ binding: "AGENT_THREADS" })`. A run is passed on, its body
 * unchanged, to the object of its identity and thread; whatever is no run is answered here. Of the options those count
 * that `createGate` names, `identify` and `cors` among them; give `createThreadObject` and this one and the same function.
 * `fetch` throws what `createGate` throws for options outside their range, and rejects never besides.
 */
export function routeThreads<Env = unknown>(
  route: ThreadRoute<Env>,
  options: (env: Env) => Partial<HandlerOptions> = () => ({}),
): ThreadsWorker<Env> {
  return {
    async fetch(request, env) {
      const given = options(env);
      const passage = await createGate({ ...given, hold: true }).receive(request);
      if ("response" in passage) return passage.response;
      const { identity, input, body, headers } = passage;
      try {
        const stub =
          "stub" in route
            ? route.stub(env, input.threadId, identity)
            : stubOf(env, route.binding, threadName(identity, input.threadId));
        const response = await stub.fetch(passOn(request, body, identity));
        const answer = new Response(response.body, response);
        for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value);
        return answer;
      } catch (error) {
        (given.onError ?? ((cause: unknown) => console.error("[holdline] a thread's object failed:", cause)))(error, {
          threadId: input.threadId,
          runId: input.runId,
        });
        // Whether the object had begun the run nobody knows: it is the client's to ask again.
        return problem(
          503,
          "THREAD_UNREACHABLE",
          "The object of this thread did not answer. Whether it took the run is not known; ask again.",
          { ...headers, "retry-after": "1" },
        );
      }
    },
  };
}

/** The name of a thread's object: one string for the pair, and no two pairs with the same. */
export const threadName = (identity: string | null, threadId: string): string => JSON.stringify([identity, threadId]);

function stubOf(env: unknown, binding: string, name: string): ThreadStub {
  const namespace = (env as Partial<Record<string, ThreadNamespace>>)[binding];
  if (namespace === undefined) {
    throw new TypeError(`No Durable Object namespace is bound as "${binding}": add it to wrangler.toml.`);
  }
  return namespace.get(namespace.idFromName(name) as never);
}

/** The request as the object gets it: its identity is the Worker's word, whatever the client sent under that name. */
function passOn(request: Request, body: string, identity: string | null): Request {
  const headers = new Headers(request.headers);
  headers.set(IDENTITY, writeIdentity(identity));
  // Of the bytes as they came, a byte order mark included.
  headers.delete("content-length");
  return new Request(request.url, { method: "POST", headers, body, signal: request.signal });
}

/** JSON in ASCII, since a header holds no more. */
const writeIdentity = (identity: string | null): string =>
  JSON.stringify(identity).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** `undefined` for anything the Worker would not have written. */
function readIdentity(header: string | null): string | null | undefined {
  try {
    const identity: unknown = JSON.parse(header ?? "");
    return typeof identity === "string" || identity === null ? identity : undefined;
  } catch {
    return undefined;
  }
}

const problem = (status: number, code: string, message: string, headers: Record<string, string> = {}): Response =>
  Response.json({ error: { code, message } }, { status, headers });
