import { describe, expect, it } from "vitest";
import { frameReader, readFrames } from "../../src/testing/frames.ts";
import { InvariantError } from "../../src/testing/invariant-error.ts";

const started = 'data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}\n\n';
const finished = 'data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"}\n\n';
const bytes = (text: string) => new TextEncoder().encode(text);

/** The error that reading the body gives, whichever way it is read. */
async function problemOf(body: string | Uint8Array): Promise<string> {
  const problem = catchProblem(() => readFrames(body));
  const chunk = typeof body === "string" ? bytes(body) : body;
  // A string with a lone surrogate cannot be sent, so there are no bytes of it to read.
  if (typeof body === "string" && new TextDecoder().decode(chunk) !== body) return problem;
  await expect(readFrames(streamOf([chunk]))).rejects.toThrow(problem);
  return problem;
}

function catchProblem(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (!(error instanceof InvariantError) || error.invariant !== "INV-4") throw error;
    return error.message;
  }
  throw new Error("The body was read without an error.");
}

function streamOf(chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

/** A body that a test writes while it is being read. */
function openBody() {
  const pipe = new TransformStream<Uint8Array, Uint8Array>();
  const writer = pipe.writable.getWriter();
  return {
    stream: pipe.readable,
    write: (text: string) => writer.write(bytes(text)),
    close: () => writer.close(),
    writer,
  };
}

describe("a whole body", () => {
  it("is its events and comments, in order", () => {
    const body = `: keep-alive\n\n${started}:\n\n: two\n: lines\n\n${finished}`;
    const { frames, comments } = readFrames(body);
    expect(frames.map((frame) => frame.raw)).toEqual([started, finished]);
    expect(frames.map((frame) => frame.event.type)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect(comments).toEqual([
      { raw: ": keep-alive\n\n", after: 0 },
      { raw: ":\n\n", after: 1 },
      { raw: ": two\n: lines\n\n", after: 1 },
    ]);
  });

  it("reads the same from bytes, and from a stream cut anywhere", async () => {
    const body = `${started}: ok\n\ndata: {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"čau 🌍"}\n\n${finished}`;
    const whole = readFrames(body);
    expect(readFrames(bytes(body))).toEqual(whole);
    for (let size = 1; size <= bytes(body).length; size += 1) {
      const chunks: Uint8Array[] = [];
      for (let at = 0; at < bytes(body).length; at += size) chunks.push(bytes(body).slice(at, at + size));
      expect(await readFrames(streamOf(chunks)), `in pieces of ${size}`).toEqual(whole);
    }
  });

  it("may be empty", () => {
    expect(readFrames("")).toEqual({ frames: [], comments: [] });
  });

  it("may hold line breaks and separators that are escaped", () => {
    const { frames } = readFrames('data: {"type":"CUSTOM","name":"x","value":"\\r\\n\\u2028\\u0085"}\n\n');
    expect(frames[0]?.event.value).toBe("\r\n\u2028\u0085");
  });

  it("may hold an empty delta of arguments, which is no text", () => {
    expect(readFrames('data: {"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":""}\n\n').frames).toHaveLength(1);
  });

  it.each(['"metadata":{"a":1}', '"rawEvent":0'])(
    "may hold an empty delta of text beside which there is %s",
    (said) => {
      const block = `data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"",${said}}\n\n`;
      expect(readFrames(block).frames).toHaveLength(1);
    },
  );
});

describe("a body is refused", () => {
  it("for CR as a line's end, wherever it stands", async () => {
    expect(await problemOf(started.replaceAll("\n", "\r\n"))).toContain("no blank line");
    expect(await problemOf('data: {"type":"A"}\r\n\n')).toContain("CR");
    expect(await problemOf(": keep-alive\r\n\n")).toContain("CR");
  });

  it("for a last block without its blank line", async () => {
    expect(await problemOf(started + finished.slice(0, -1))).toContain("no blank line");
    expect(await problemOf(`${started}: comment\n`)).toContain("no blank line");
    expect(await problemOf(`${started}\n`)).toContain("no blank line");
  });

  it("for more than one line in a block, or a comment inside", async () => {
    expect(await problemOf('data: {"type":"A",\ndata: "b":1}\n\n')).toContain("more than one line");
    expect(await problemOf('data: {"type":"A"}\n: hi\n\n')).toContain("more than one line");
    expect(await problemOf(': hi\ndata: {"type":"A"}\n\n')).toContain("share a block");
  });

  it("for a blank line too many", async () => {
    expect(await problemOf(`${started}\n${finished}`)).toContain("neither a comment nor one data line");
  });

  it("for fields that AG-UI does not use, and for data without its space", async () => {
    for (const field of ["id: 1", "event: message", "retry: 5", "data:{}", "data", "\ufeffdata: {}"]) {
      expect(await problemOf(`${field}\n\n`), field).toContain("neither a comment nor one data line");
    }
  });

  it("for data that is not one JSON object with a type", async () => {
    for (const data of ["[DONE]", "null", "[]", '"x"', "1", "", " {}", "{} "]) {
      expect(await problemOf(`data: ${data}\n\n`), data).toContain("not a JSON object");
    }
    expect(await problemOf('data: {"type":undefined}\n\n')).toContain("not JSON");
    expect(await problemOf('data: {"type":"A"}{"type":"B"}\n\n')).toContain("not JSON");
    expect(await problemOf('data: {"type":1}\n\n')).toContain("no type");
    expect(await problemOf("data: {}\n\n")).toContain("no type");
  });

  it("for bytes that are not UTF-8, also at its very end", async () => {
    expect(await problemOf(new Uint8Array([...bytes(started), 0xff]))).toContain("not UTF-8");
    expect(await problemOf(new Uint8Array([...bytes(started), 0xf0, 0x9f]))).toContain("not UTF-8");
    expect(await problemOf(`${started}: \ud83d\n\n`)).toContain("UTF-8");
  });

  it("for separators that some readers take for a line's end", async () => {
    for (const separator of ["\u0085", "\u2028", "\u2029"]) {
      expect(await problemOf(`data: {"type":"CUSTOM","name":"x","value":"${separator}"}\n\n`)).toContain("U+2028");
    }
  });

  it("for half of a surrogate pair in a delta, and for an empty text delta", async () => {
    const delta = (type: string, value: string) => `data: {"type":"${type}","messageId":"m","delta":"${value}"}\n\n`;
    expect(await problemOf(delta("TEXT_MESSAGE_CONTENT", "a\\ud83d"))).toContain("surrogate");
    expect(await problemOf(delta("TOOL_CALL_ARGS", "\\udf0d"))).toContain("surrogate");
    expect(readFrames(delta("TEXT_MESSAGE_CONTENT", "\\ud83c\\udf0d")).frames[0]?.event.delta).toBe("🌍");
    for (const type of [
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CHUNK",
      "REASONING_MESSAGE_CONTENT",
      "REASONING_MESSAGE_CHUNK",
    ]) {
      expect(await problemOf(delta(type, "")), type).toContain("empty");
    }
  });

  it("with the place and the events so far in the error", () => {
    const error = (() => {
      try {
        readFrames(`${started}: ok\n\nid: 1\n\n`);
      } catch (thrown) {
        return thrown as InvariantError;
      }
    })();
    expect(error).toMatchObject({ name: "InvariantError", invariant: "INV-4", index: 2, eventTypes: ["RUN_STARTED"] });
  });
});

describe("a body that is still open", () => {
  it("gives each frame as it arrives, and comments on the way", async () => {
    const body = openBody();
    const reader = frameReader(body.stream);
    const first = reader.next();
    await body.write(started.slice(0, 20));
    await body.write(started.slice(20));
    expect((await first).value?.event.type).toBe("RUN_STARTED");

    let second: unknown;
    const waiting = reader.next().then((step) => {
      second = step;
    });
    await body.write(":\n\n");
    await body.write(finished.slice(0, -1));
    expect(reader.comments).toEqual([{ raw: ":\n\n", after: 1 }]);
    expect(second).toBeUndefined();
    await body.write("\n");
    await waiting;
    expect(second).toMatchObject({ done: false, value: { raw: finished } });

    const end = reader.next();
    await body.close();
    expect(await end).toEqual({ done: true, value: undefined });
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });

  it("gives the rest at once", async () => {
    const reader = frameReader(streamOf([bytes(started + finished)]));
    await reader.next();
    expect((await reader.rest()).map((frame) => frame.event.type)).toEqual(["RUN_FINISHED"]);
  });

  it("tells its server when it is left, with the reason, and ends without an error in the middle of a frame", async () => {
    const body = openBody();
    const reader = frameReader(body.stream);
    const writing = body.write(started + finished.slice(0, 10));
    await reader.next();
    await writing;
    const pending = reader.next();
    await reader.cancel("enough");
    expect(await pending).toEqual({ done: true, value: undefined });
    await expect(body.writer.closed).rejects.toBe("enough");
  });

  it("still gives what had arrived when it was left", async () => {
    const reader = frameReader(streamOf([bytes(started + finished)]));
    await reader.next();
    await reader.cancel();
    expect((await reader.next()).value?.event.type).toBe("RUN_FINISHED");
    expect((await reader.next()).done).toBe(true);
  });

  it("is left by a for-await that breaks", async () => {
    const body = openBody();
    const writing = body.write(started);
    for await (const frame of frameReader(body.stream)) {
      expect(frame.event.type).toBe("RUN_STARTED");
      break;
    }
    await writing;
    await expect(body.writer.closed).rejects.toBeUndefined();
  });

  it("gives what was right, then rejects for what is wrong, for good, and leaves", async () => {
    const body = openBody();
    const reader = frameReader(body.stream);
    const writing = body.write(`${started}id: 1\n\n${finished}`);
    expect((await reader.next()).value?.event.type).toBe("RUN_STARTED");
    await writing;
    await expect(reader.next()).rejects.toThrow(InvariantError);
    await expect(reader.next()).rejects.toThrow(InvariantError);
    await expect(body.writer.closed).rejects.toThrow(InvariantError);
  });

  it("rejects at its end when the last frame is cut, and again when asked again", async () => {
    const reader = frameReader(streamOf([bytes(finished.slice(0, -1))]));
    await expect(reader.next()).rejects.toThrow("no blank line");
    await expect(reader.next()).rejects.toThrow("no blank line");
  });

  it("passes on the error its stream fails with", async () => {
    const body = openBody();
    const reader = frameReader(body.stream);
    const pending = reader.next();
    const failure = new Error("socket gone");
    await body.writer.abort(failure);
    await expect(pending).rejects.toBe(failure);
  });
});
