import { useEffect, useState } from "preact/hooks";
import type { Session, SessionState } from "../session.ts";

/** The session's state, drawn again at every change of it. */
export function useSession(session: Session): SessionState {
  const [state, setState] = useState(session.get);
  useEffect(() => {
    // It may have changed between the first drawing and this.
    setState(session.get());
    return session.subscribe(() => setState(session.get()));
  }, [session]);
  return state;
}

/** The time, once a second and only while somebody looks at it. */
export function useNow(running: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    setNow(Date.now());
    if (!running) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [running]);
  return now;
}
