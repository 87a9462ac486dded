/**
 * A request to a run input: media type, size, JSON, shape. Everything wrong with a request is
 * found here, before any run exists; what is merely unknown is stripped with a warning.
 */
import type { RunAgentInput } from "@ag-ui/core";
import { PROTOCOL_VERSION } from "@ag-ui/core";
import { RequestError, RequestErrorCode } from "./errors.ts";
import { type InputWarning, readInput } from "./input.ts";
import type { Warning } from "./options.ts";
import type { ExchangeRequest } from "./outlet.ts";
import { formatPath } from "./read-shape.ts";
import type { Settings } from "./settings.ts";
import { THREAD_HEADER, threadHeader } from "./thread-header.ts";
import { standing } from "./version.ts";

/** JSON under its own name or as a suffix, parameters aside. Also keeps cross-site form posts out. */
const JSON_TYPE = /^application\/(?:[\w!#$&^.+-]+\+)?json\s*(?:;|$)/i;

/** How many paths one warning names. */
const NAMED_PATHS = 3;

/** A request's input, and what is odd about it though it is served. */
export interface Parsed {
  readonly input: RunAgentInput;
  readonly doubts: readonly Warning[];
}

/** Reads a POST's body. @throws RequestError */
export async function parse(request: ExchangeRequest, settings: Settings): Promise<Parsed> {
  const type = request.headers.get("content-type");
  if (type === null || !JSON_TYPE.test(type.trim())) {
    throw new RequestError(RequestErrorCode.UNSUPPORTED_MEDIA_TYPE, "Send the run input as application/json.");
  }
  const text = await request.text(settings.bodyBytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RequestError(RequestErrorCode.INVALID_JSON, "The body is not JSON.");
  }
  const { input, warnings } = readInput(value);
  const doubts = [
    stripped(warnings),
    versionDoubt(input.protocolVersion),
    routeDoubt(request.headers.get(THREAD_HEADER), input.threadId),
  ].filter((doubt) => doubt !== undefined);
  return { input, doubts };
}

/** What was left out or taken in an older form: the first few paths, and how many more. */
function stripped(warnings: readonly InputWarning[]): Warning | undefined {
  const [first] = warnings;
  if (first === undefined) return undefined;
  const paths = warnings.slice(0, NAMED_PATHS).map(({ path }) => formatPath(path));
  const more = warnings.length > paths.length ? ` and ${warnings.length - paths.length} more` : "";
  return { code: first.code, message: `${first.message} (${paths.join(", ")}${more}).`, path: paths[0] as string };
}

/** A version that is newer than ours, or that cannot be read, is served with a warning (AG-UI versioning). */
function versionDoubt(version: string | undefined): Warning | undefined {
  if (version === undefined || standing(version) !== "servable") return undefined;
  const message = `The input declares AG-UI ${JSON.stringify(version.slice(0, 20))}; it is served as ${PROTOCOL_VERSION}.`;
  return { code: "PROTOCOL_VERSION_UNKNOWN", message };
}

/** Served all the same: the body decides. But a proxy that routes by this header has asked the wrong instance. */
function routeDoubt(header: string | null, threadId: string): Warning | undefined {
  if (header === null || header === threadHeader(threadId) || header === threadId) return undefined;
  const message = `The header ${THREAD_HEADER} names another thread than the body; where it routes, answers will not be found.`;
  return { code: "THREAD_HEADER_DIFFERS", message };
}

/** Reads a web request's body, counting while reading. @throws RequestError */
export async function readBody(request: Request, limit: number): Promise<string> {
  const tooLarge = () => new RequestError(RequestErrorCode.BODY_TOO_LARGE, `The body is larger than ${limit} bytes.`);
  try {
    const declared = request.headers.get("content-length");
    if (Number(declared) > 2 * limit) throw tooLarge();
    const isTooLarge = Number(declared) > limit;
    // A declared length within the limit is what the server lets through, so the body may be read in one go. Not where
    // the body was encoded: whoever has decoded it may have left the length of what it was.
    if (declared !== null && !isTooLarge && !request.headers.has("content-encoding")) {
      const bytes = await request.arrayBuffer();
      if (bytes.byteLength > limit) throw tooLarge();
      return decode(bytes);
    }
    if (request.body === null) return "";
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const reader = request.body.getReader();
    let text = "";
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done && (isTooLarge || size > limit)) throw tooLarge();
      if (done) return text + decoder.decode();
      if (!ArrayBuffer.isView(value)) throw new TypeError("A body is made of bytes.");
      size += value.byteLength;
      if (!isTooLarge && size <= limit) {
        text += decoder.decode(value, { stream: true });
        continue;
      }
      // What is too large is read on for a while and dropped: many clients listen only once they have sent everything, and
      // a server that answers before (workerd) cuts them off from the answer.
      text = "";
      if (size <= 2 * limit) continue;
      reader.cancel().catch(() => {});
      throw tooLarge();
    }
  } catch (cause) {
    if (cause instanceof RequestError) throw cause;
    throw new RequestError(
      RequestErrorCode.INVALID_JSON,
      "The body could not be read as UTF-8, or had been read already.",
      { cause },
    );
  }
}

/** Bytes to text: strict UTF-8, a byte order mark dropped. */
const decode = (bytes: ArrayBuffer): string => new TextDecoder("utf-8", { fatal: true }).decode(bytes);
