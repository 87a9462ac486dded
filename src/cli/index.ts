#!/usr/bin/env node
/** The command `holdline`: makes an agent project, and serves one. */
import { parseArgs } from "node:util";
import { create } from "./create.ts";
import { OWN_VERSION } from "./own-version.ts";
import { ProjectError } from "./problems.ts";
import { CommandError, findProject, run } from "./run.ts";
import { runWatching } from "./watch.ts";

const USAGE = `holdline <command>

  create <name>   Makes an agent project in a new folder.
    --provider    scripted (default: needs no key) or openai-compatible
    --model       the model's name, for openai-compatible
    --yes         takes the defaults without asking

  run [folder]    Serves a project: its agent, and a console to talk to it.
    --port        default: the project's; 0 for any free one
    --host        default: 127.0.0.1
    --watch       starts again when a file changes
    --no-open     leaves the browser alone

  --version, --help
`;

const OPTIONS = {
  create: { provider: { type: "string" }, model: { type: "string" }, yes: { type: "boolean", short: "y" } },
  run: {
    port: { type: "string" },
    host: { type: "string" },
    watch: { type: "boolean" },
    "no-open": { type: "boolean" },
  },
} as const;

async function main([command, ...rest]: string[]): Promise<void> {
  if (
    command === undefined ||
    command === "help" ||
    command === "--help" ||
    command === "-h" ||
    rest.includes("--help")
  ) {
    return console.log(USAGE);
  }
  if (command === "--version" || command === "-v") {
    return console.log(OWN_VERSION);
  }
  if (command === "create") {
    const { values, positionals } = read(() =>
      parseArgs({ args: rest, options: OPTIONS.create, allowPositionals: true }),
    );
    const name = only(positionals, "create needs a name: holdline create <name>");
    if (name === undefined) throw new CommandError("create needs a name: holdline create <name>");
    return create({ target: name, provider: values.provider, model: values.model, yes: values.yes ?? false });
  }
  if (command === "run") {
    const { values, positionals } = read(() => parseArgs({ args: rest, options: OPTIONS.run, allowPositionals: true }));
    const folder = only(positionals, "run takes one folder");
    if (values.watch) return runWatching(findProject(folder), ["run", ...rest.filter((each) => each !== "--watch")]);
    const served = await run({
      folder,
      port: readPort(values.port),
      host: values.host ?? "127.0.0.1",
      open: values["no-open"] !== true && process.stdout.isTTY === true && process.env.CI === undefined,
    });
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.on(signal, () => void served.close().then(() => process.exit(0)));
    }
    return;
  }
  throw new CommandError(`There is no command ${command}.\n\n${USAGE}`);
}

/** What `parseArgs` says of options it does not know, without its stack. */
function read<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new CommandError(`${(error as Error).message}\n\n${USAGE}`);
  }
}

function only(positionals: readonly string[], message: string): string | undefined {
  if (positionals.length > 1) throw new CommandError(message);
  return positionals[0];
}

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new CommandError(`--port takes a number from 0 to 65535, not ${text}.`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof ProjectError || error instanceof CommandError ? error.message : error);
  process.exitCode = 1;
});
