import { useEffect, useState } from "preact/hooks";
import { BROWSER_HEADER } from "../../browser-header.ts";
import { browserName } from "../storage.ts";
import { wordDuration } from "../timeline.ts";
import { useNow } from "./use-session.ts";

/** What `?data` answers. */
interface AdminData {
  now: number;
  stats: Record<string, number | Record<string, number>>;
  held: {
    threadId: string;
    identity: string | null;
    since: number;
    interrupts: { id: string; message?: string; reason: string; expiresAt?: string }[];
  }[];
  tools: { name: string; description?: string; behaviour?: string; descriptionFrom?: string }[];
  options: Record<string, unknown>;
}

/** Milliseconds between two looks at the server. */
const EVERY = 2_000;

export function AdminView({ endpoint }: { endpoint: string }) {
  const data = useAdminData();
  const capabilities = useCapabilities(endpoint);
  return (
    <main class="admin">
      {typeof data === "string" && (
        <p class="notice error" role="alert">
          {data}
        </p>
      )}
      {typeof data === "object" && (
        <>
          <HeldTurns held={data.held} />
          <Tools tools={data.tools} />
          <Numbers stats={data.stats} />
          <Facts title="Options in force" facts={data.options} />
        </>
      )}
      {capabilities !== undefined && <Facts title="Capabilities" facts={capabilities} />}
    </main>
  );
}

function HeldTurns({ held }: { held: AdminData["held"] }) {
  const now = useNow(held.length > 0);
  return (
    <section class="sheet" aria-labelledby="held-turns">
      <h2 id="held-turns">
        Held turns <span class="count">{held.length}</span>
      </h2>
      {held.length === 0 ? (
        <p class="empty">No turn waits for an answer now.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">Thread</th>
              <th scope="col">Identity</th>
              <th scope="col">Asks</th>
              <th scope="col">Held for</th>
              <th scope="col">Expires in</th>
            </tr>
          </thead>
          <tbody>
            {held.map(({ threadId, identity, since, interrupts }) => (
              <tr key={`${identity} ${threadId}`}>
                <td>
                  <code>{threadId}</code>
                </td>
                <td>{identity === null ? <em>nobody</em> : <code>{identity}</code>}</td>
                <td>
                  {interrupts.map(({ id, message }) => (
                    <p key={id} dir="auto">
                      {message}
                    </p>
                  ))}
                </td>
                <td>{wordDuration(Math.max(0, now - since))}</td>
                <td>
                  {interrupts.map(({ id, expiresAt }) => (
                    <p key={id}>
                      {expiresAt === undefined ? "never" : wordDuration(Math.max(0, Date.parse(expiresAt) - now))}
                    </p>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Tools({ tools }: { tools: AdminData["tools"] }) {
  if (tools.length === 0) return null;
  return (
    <section class="sheet" aria-labelledby="tools">
      <h2 id="tools">
        Tools <span class="count">{tools.length}</span>
      </h2>
      <dl class="tools">
        {tools.map(({ name, description, behaviour, descriptionFrom }) => (
          <div key={name}>
            <dt>
              <code>{name}</code>
              {descriptionFrom !== undefined && <span class="state">{descriptionFrom} description</span>}
            </dt>
            <dd>
              {behaviour !== undefined && <p class="behaviour">{behaviour}</p>}
              {description !== undefined && <p dir="auto">{description}</p>}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Numbers({ stats }: { stats: AdminData["stats"] }) {
  const { refused, ...counts } = stats;
  const refusals = Object.entries(typeof refused === "object" ? refused : {});
  return (
    <section class="sheet" aria-labelledby="numbers">
      <h2 id="numbers">Numbers</h2>
      <dl class="numbers">
        {Object.entries(counts).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{String(value)}</dd>
          </div>
        ))}
        {refusals.map(([code, value]) => (
          <div key={code}>
            <dt>
              refused: <code>{code}</code>
            </dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Facts({ title, facts }: { title: string; facts: object }) {
  if (Object.keys(facts).length === 0) return null;
  return (
    <section class="sheet" aria-label={title}>
      <h2>{title}</h2>
      <dl class="facts">
        {Object.entries(facts).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <code>{typeof value === "string" ? value : JSON.stringify(value)}</code>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function useAdminData(): AdminData | string | undefined {
  const [data, setData] = useState<AdminData | string>();
  useEffect(() => {
    const look = async () => {
      if (document.hidden) return;
      try {
        const response = await fetch(`${location.pathname}?data`);
        const body = await response.json();
        setData(response.ok ? body : (body.error?.message ?? `The server answered with HTTP ${response.status}.`));
      } catch {
        setData("The server could not be reached.");
      }
    };
    void look();
    const timer = setInterval(look, EVERY);
    return () => clearInterval(timer);
  }, []);
  return data;
}

function useCapabilities(endpoint: string): object | undefined {
  const [capabilities, setCapabilities] = useState<object>();
  useEffect(() => {
    fetch(endpoint, { headers: { [BROWSER_HEADER]: browserName() } })
      .then((response) => (response.ok ? response.json() : undefined))
      .then(setCapabilities, () => setCapabilities(undefined));
  }, [endpoint]);
  return capabilities;
}
