/** The API reference, of what package.json exports. An export without words of its own is an error, and so is a link that leads nowhere. */

/** The members of something, by their full names. @param {string} owner @param {string} names */
const members = (owner, names) => names.split(" ").map((name) => `${owner}.${name}`);

/** @type {Partial<import("typedoc").TypeDocOptions>} */
const config = {
  name: "Holdline",
  tsconfig: "tsconfig.json",
  entryPoints: [
    "../src/index.ts",
    "../src/{client,console,project,testing}/index.ts",
    "../src/agents/*.ts",
    "../adapters/!(_*).ts",
  ],
  out: "api",
  readme: "none",
  excludeExternals: true,
  disableSources: true,
  // `npm run typecheck` has found them.
  skipErrorChecking: true,
  logLevel: "Warn",
  validation: { notExported: true, invalidLink: true, notDocumented: true },
  treatWarningsAsErrors: true,
  treatValidationWarningsAsErrors: true,
  intentionallyNotExported: ["Spelled", "StreamTextOptions", "Ours", "AnyTool", "Next"],
  intentionallyNotDocumented: [
    // An error's name is its class's.
    ...[
      "HoldlineError",
      "EventRefusedError",
      "HoldUnavailableError",
      "InputTimeoutError",
      "InterruptCancelledError",
      "PromptInvalidError",
      "PublicError",
      "RequestError",
      "TurnEndedError",
      "TurnReleasedError",
    ].map((name) => `holdline.${name}.name`),
    "holdline/testing.InvariantError.name",
    // Likenesses of what runtimes and frameworks have documented themselves.
    ...members(
      "holdline/node.NodeRequest",
      "method url headers httpVersionMajor readableEnded destroyed body socket socket.__type.on on resume",
    ),
    ...members(
      "holdline/node.NodeResponse",
      "writableNeedDrain writableEnded destroyed headersSent writeHead write end on",
    ),
    ...members("holdline/hono.HonoContext", "req req.__type.raw req.__type.text req.__type.header get env"),
    ...members(
      "holdline/durable-object.ThreadObjectState",
      "storage storage.__type.setAlarm storage.__type.deleteAlarm",
    ),
    ...members("holdline/durable-object.ThreadNamespace", "idFromName get"),
    "holdline/durable-object.ThreadStub.fetch",
    "holdline/workers.WorkerContext.waitUntil",
    ...members(
      "holdline.StandardSchemaV1",
      "~standard ~standard.__type.version ~standard.__type.vendor ~standard.__type.validate ~standard.__type.types ~standard.__type.types.__type.input ~standard.__type.types.__type.output ~standard.__type.jsonSchema.__type.input Result Result.__type.value Result.__type.issues Result.__type.issues.__type.message Result.__type.issues.__type.path InferOutput",
    ),
    // Objects written in place, in whose words their members are told.
    ...members("holdline.Approval.__type", "approved args"),
    ...members("holdline.HumanInputRequest.__type", "kind message responseSchema toolCallId toolName args"),
    ...members("holdline.Passage.__type", "response identity"),
    ...members("holdline.HandlerOptions", "reasons.__type.input reasons.__type.approval transports.__type.protobuf"),
    ...members(
      "holdline/testing.TestAgentOptions",
      "reasons.__type.input reasons.__type.approval transports.__type.protobuf",
    ),
    ...members("holdline.ReplayedRun.error.__type", "message code"),
    ...members("holdline/testing.TestRun.error.__type", "message code metadata"),
    ...members("holdline/bun.ServeOptions.signals.__type", "drainMs graceMs"),
    ...members("holdline/durable-object.ThreadRoute.__type", "binding stub"),
    "holdline.AgentEvent.__type.type",
    "holdline.ExchangeRequest.headers.__type.get",
    "holdline/client.echoProofs.__type.Input.__type.threadId",
    "holdline/ai-sdk.AiAgentOptions.__type.turnControl.__type.requestInputDescription",
  ],
};
export default config;
