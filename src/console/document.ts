/**
 * The one document the console is: the built page, its styles and its configuration in a single
 * answer, under a policy that lets nothing else run and nothing be fetched but what it is for.
 */

/** What the page is told, read back by `page/config.ts`. */
export interface PageConfig {
  readonly endpoint: string;
  readonly title: string;
  readonly hasAdmin: boolean;
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%230f766e'/%3E%3Cpath d='M9 8v16M23 8v16' stroke='white' stroke-width='4' stroke-linecap='round'/%3E%3C/svg%3E";

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** JSON that ends no script element and opens no comment. */
const inlineJson = (value: unknown): string => JSON.stringify(value).replaceAll("<", "\\u003c");

/** Makes the document. `connectTo` is the origin of an endpoint elsewhere. */
export async function renderDocument(config: PageConfig, connectTo: string | undefined) {
  // Loaded at the first request: a server that mounts the console pays for the page only when somebody opens it.
  const { script, scriptHash, style, styleHash } = await import("holdline:console-page");
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(config.title)}</title>
<link rel="icon" href="${ICON}">
<style>${style}</style>
</head>
<body>
<div id="console"><noscript>The console needs JavaScript.</noscript></div>
<script type="application/json" id="config">${inlineJson(config)}</script>
<script type="module">${script}</script>
</body>
</html>
`;
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": [
      "default-src 'none'",
      `script-src '${scriptHash}'`,
      `style-src '${styleHash}'`,
      `connect-src 'self'${connectTo === undefined ? "" : ` ${connectTo}`}`,
      "img-src data:",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'self'",
    ].join("; "),
    "cache-control": "no-cache",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    etag: await etagOf(html),
  };
  return { html, headers };
}

async function etagOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `"${[...new Uint8Array(digest).subarray(0, 12)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}"`;
}
