import { useEffect, useRef, useState } from "preact/hooks";
import type { SessionState } from "../session.ts";

interface ComposerProps {
  phase: SessionState["phase"];
  waitsFor: string | undefined;
  onSend: (text: string) => void;
  onStop: () => void;
}

/** Where the human writes. While a question is open its form has the word. */
export function Composer({ phase, waitsFor, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState("");
  const box = useRef<HTMLTextAreaElement>(null);
  const isReply = phase === "idle" && waitsFor !== undefined;
  useEffect(() => {
    // Focus follows the word, unless the human is somewhere else by choice.
    if (phase === "idle" && (document.activeElement === null || document.activeElement === document.body)) {
      box.current?.focus({ preventScroll: true });
    }
  }, [phase]);
  const send = () => {
    if (phase !== "idle" || text.trim() === "") return;
    setText("");
    onSend(text.trim());
  };
  return (
    <form
      class={isReply ? "composer reply" : "composer"}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {isReply && (
        <p class="waits" id="waits">
          <strong>Waiting for your reply.</strong> The turn is over and nothing is held: answer whenever you like.
        </p>
      )}
      <div class="compose-row">
        <label class="hidden" for="compose">
          {isReply ? "Your reply" : "Message"}
        </label>
        <textarea
          id="compose"
          ref={box}
          rows={1}
          dir="auto"
          value={text}
          disabled={phase === "asked"}
          placeholder={phase === "asked" ? "Answer the question first" : isReply ? "Reply…" : "Message the agent…"}
          aria-describedby={isReply ? "waits" : undefined}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            send();
          }}
        />
        {phase === "working" ? (
          <button type="button" class="quiet" onClick={onStop}>
            Stop
          </button>
        ) : (
          <button type="submit" class="main" disabled={phase === "asked" || text.trim() === ""}>
            {isReply ? "Reply" : "Send"}
          </button>
        )}
      </div>
    </form>
  );
}
