import { useEffect, useState } from "preact/hooks";
import type { PageConfig } from "../../document.ts";

export type View = "chat" | "admin";
const THEMES = { auto: "System", light: "Light", dark: "Dark" } as const;
type Theme = keyof typeof THEMES;
const THEME_KEY = "holdline:theme";

export function Header({ config, view, onStartOver }: { config: PageConfig; view: View; onStartOver: () => void }) {
  return (
    <header class="top">
      <h1>
        <Mark />
        <span dir="auto">{config.title}</span>
      </h1>
      <nav aria-label="Views">
        {config.hasAdmin && (
          <>
            <a href="#chat" aria-current={view === "chat" ? "page" : undefined}>
              Chat
            </a>
            <a href="#admin" aria-current={view === "admin" ? "page" : undefined}>
              Admin
            </a>
          </>
        )}
      </nav>
      <div class="top-end">
        <ThemeChoice />
        {view === "chat" && (
          <button type="button" class="quiet" aria-label="New thread" onClick={onStartOver}>
            New<span class="wide"> thread</span>
          </button>
        )}
      </div>
    </header>
  );
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M11 9v14M21 9v14" />
    </svg>
  );
}

function ThemeChoice() {
  const [theme, setTheme] = useState<Theme>(readTheme);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem(THEME_KEY, theme);
    } catch {}
  }, [theme]);
  return (
    <label class="theme">
      <span class="hidden">Colours</span>
      <select value={theme} onChange={({ currentTarget }) => setTheme(currentTarget.value as Theme)}>
        {Object.entries(THEMES).map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

function readTheme(): Theme {
  try {
    const kept = localStorage.getItem(THEME_KEY);
    if (kept !== null && kept in THEMES) return kept as Theme;
  } catch {}
  return "auto";
}
