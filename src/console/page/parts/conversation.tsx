import type { SessionState } from "../session.ts";
import type { Item, Notice } from "../transcript.ts";
import { MarkdownText } from "./markdown-text.tsx";
import { ToolCard } from "./tool-card.tsx";

export function Conversation({ state, onSendAgain }: { state: SessionState; onSendAgain: () => void }) {
  const { items, phase, interrupts } = state;
  const asking = new Set(interrupts.map(({ toolCallId }) => toolCallId));
  const last = items.at(-1);
  const canRepeat = phase === "idle" && last?.kind === "notice" && last.notice.tone === "error";
  return (
    <div class="items">
      {items.length === 0 && <Welcome />}
      {items.map((item) => (
        <ItemView
          key={`${item.kind} ${item.id}`}
          item={item}
          isWorking={phase === "working"}
          asks={asking.has(item.id)}
        />
      ))}
      {canRepeat && (
        <button type="button" class="quiet again" onClick={onSendAgain}>
          Send again
        </button>
      )}
      {phase === "working" && (
        <p class="working">
          <span class="dots" aria-hidden="true">
            <i />
            <i />
            <i />
          </span>
          <span class="hidden">The agent is at work.</span>
        </p>
      )}
    </div>
  );
}

function Welcome() {
  return (
    <div class="welcome">
      <p>Write to the agent. When it needs you, its question appears here and its work waits for your answer.</p>
    </div>
  );
}

function ItemView({ item, isWorking, asks }: { item: Item; isWorking: boolean; asks: boolean }) {
  switch (item.kind) {
    case "user":
      return (
        <article class="item user" aria-label="You">
          <p dir="auto">{item.text}</p>
        </article>
      );
    case "text":
      return (
        <article class="item agent" aria-label="Agent" aria-busy={item.open}>
          <MarkdownText text={item.text} isOpen={item.open} />
        </article>
      );
    case "reasoning":
      return (
        <details class="item reasoning" open={item.open}>
          <summary>{item.open ? "Thinking" : "Thought"}</summary>
          <p dir="auto">{item.text}</p>
        </details>
      );
    case "tool":
      return <ToolCard tool={item} isWorking={isWorking} asks={asks} />;
    case "answers":
      return (
        <article class="item answers" aria-label="You">
          <dl>
            {item.answers.map(({ question, answer }, index) => (
              <div key={index}>
                <dt dir="auto">{question}</dt>
                <dd dir="auto">{answer ?? <em>not answered</em>}</dd>
              </div>
            ))}
          </dl>
        </article>
      );
    case "activity":
      return <JsonCard title={`Activity: ${item.name}`} value={item.content} />;
    case "result":
      return <JsonCard title="Result" value={item.value} />;
    case "subagent":
      return (
        <p class="item aside" dir="auto">
          {item.name} {{ working: "has been called in", done: "has finished", failed: "has failed" }[item.state]}
        </p>
      );
    case "notice":
      return <NoticeView notice={item.notice} />;
  }
}

export function NoticeView({ notice }: { notice: Notice }) {
  const { tone, code, message, advice } = notice;
  return (
    <div class={`item notice ${tone}`} role={tone === "error" ? "alert" : undefined}>
      {code !== undefined && <code>{code}</code>}
      <p dir="auto">{message}</p>
      {advice !== undefined && <p class="advice">{advice}</p>}
    </div>
  );
}

function JsonCard({ title, value }: { title: string; value: unknown }) {
  return (
    <section class="item card" aria-label={title}>
      <h2>{title}</h2>
      <pre dir="auto">{typeof value === "string" ? value : JSON.stringify(value, undefined, 2)}</pre>
    </section>
  );
}
