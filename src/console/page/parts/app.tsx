import { useEffect, useRef, useState } from "preact/hooks";
import type { PageConfig } from "../../document.ts";
import type { Session } from "../session.ts";
import { AdminView } from "./admin-view.tsx";
import { Composer } from "./composer.tsx";
import { Conversation } from "./conversation.tsx";
import { EventLogView } from "./event-log-view.tsx";
import { Header, type View } from "./header.tsx";
import { Questions } from "./questions-form.tsx";
import { TimelineView } from "./timeline-view.tsx";
import { useSession } from "./use-session.ts";

/** The whole page. */
export function App({ config, session }: { config: PageConfig; session: Session }) {
  const [view, setView] = useState<View>(() => (location.hash === "#admin" && config.hasAdmin ? "admin" : "chat"));
  useEffect(() => {
    const follow = () => setView(location.hash === "#admin" && config.hasAdmin ? "admin" : "chat");
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [config.hasAdmin]);
  return (
    <>
      <a class="skip" href="#compose">
        Skip to the message box
      </a>
      <Header config={config} view={view} onStartOver={() => session.startOver()} />
      {view === "admin" ? <AdminView endpoint={config.endpoint} /> : <Chat session={session} />}
    </>
  );
}

function Chat({ session }: { session: Session }) {
  const state = useSession(session);
  const scroller = useStickToEnd();
  return (
    <main class="chat">
      <section class="talk" aria-label="Conversation">
        <div class="talk-scroll" ref={scroller}>
          <div>
            <Conversation state={state} onSendAgain={() => void session.sendAgain()} />
            {state.interrupts.length > 0 && (
              <Questions
                key={state.interrupts.map(({ id }) => id).join()}
                interrupts={state.interrupts}
                items={state.items}
                refusal={state.refusal}
                isSending={state.phase === "working"}
                onAnswer={(decisions) => void session.answer(decisions)}
                onGiveUp={() => void session.giveUp()}
              />
            )}
          </div>
        </div>
        <Composer
          phase={state.phase}
          waitsFor={state.waitsFor}
          onSend={(text) => void session.send(text)}
          onStop={() => session.stop()}
        />
      </section>
      <SidePanel session={session} />
      <p class="hidden" role="status">
        {state.announcement}
      </p>
    </main>
  );
}

const TABS = ["Turn", "Events"] as const;

function SidePanel({ session }: { session: Session }) {
  const [tab, setTab] = useState<(typeof TABS)[number]>("Turn");
  // On a phone it would take the conversation's place.
  const [isOpen, setOpen] = useState(() => matchMedia("(min-width: 901px)").matches);
  const state = useSession(session);
  const select = (step: number) => {
    const next = TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length] as (typeof TABS)[number];
    setTab(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <aside class={isOpen ? "panel" : "panel shut"} aria-label="What is behind it">
      <div class="tabs" role="tablist">
        {TABS.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={tab === name}
            aria-controls="panel-content"
            tabIndex={tab === name ? 0 : -1}
            onClick={() => {
              setTab(name);
              setOpen(true);
            }}
            onKeyDown={({ key }) => {
              if (key === "ArrowRight" || key === "ArrowLeft") select(key === "ArrowRight" ? 1 : -1);
            }}
          >
            {name}
          </button>
        ))}
      </div>
      <button type="button" class="link fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? "Hide" : "Show"}
      </button>
      <div class="panel-content" id="panel-content" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === "Turn" ? <TimelineView state={state} /> : <EventLogView log={session.log} />}
      </div>
    </aside>
  );
}

/** Keeps the end in sight while the human has not scrolled away from it. */
function useStickToEnd() {
  const scroller = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    let sticks = true;
    const note = () => {
      sticks = element.scrollHeight - element.scrollTop - element.clientHeight < 80;
    };
    const stick = new ResizeObserver(() => {
      if (sticks) element.scrollTop = element.scrollHeight;
    });
    element.addEventListener("scroll", note, { passive: true });
    for (const part of [element, ...element.children]) stick.observe(part);
    return () => {
      stick.disconnect();
      element.removeEventListener("scroll", note);
    };
  }, []);
  return scroller;
}
