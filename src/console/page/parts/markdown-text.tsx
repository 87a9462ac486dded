import { compiler } from "markdown-to-jsx/react";
import { type ComponentChild, type ComponentType, h } from "preact";

/** What an agent writes, with its Markdown. No HTML, and nothing is fetched: a picture becomes a link to it. */
export function MarkdownText({ text, isOpen }: { text: string; isOpen: boolean }) {
  const tree = compiler(text, {
    disableParsingRawHTML: true,
    forceBlock: true,
    optimizeForStreaming: isOpen,
    overrides: { a: SafeLink, img: PictureLink, input: TaskBox },
    wrapper: null,
  });
  return (
    <div class="prose" dir="auto">
      {toNodes(tree)}
    </div>
  );
}

/** The compiler writes React's elements out by hand, which Preact does not take for its own. */
function toNodes(tree: unknown): ComponentChild[] {
  if (Array.isArray(tree)) return tree.flatMap(toNodes);
  if (typeof tree !== "object" || tree === null) return [tree as ComponentChild];
  const { type, key, props } = tree as {
    type: string | ComponentType;
    key: string | null;
    props: { children?: unknown };
  };
  const { children, ...others } = props;
  return [h(type as string, { ...others, key }, toNodes(children))];
}

function SafeLink({ href, children }: { href?: string; children?: ComponentChild }) {
  return (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  );
}

function PictureLink({ src, alt }: { src?: string; alt?: string }) {
  return <SafeLink {...(src === undefined ? {} : { href: src })}>{alt || "picture"}</SafeLink>;
}

/** A task list's box: it shows, and takes no clicks. */
function TaskBox({ checked }: { checked?: boolean }) {
  return <input type="checkbox" checked={checked} disabled aria-label={checked ? "done" : "to do"} />;
}
