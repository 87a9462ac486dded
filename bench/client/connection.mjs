/**
 * One keep-alive connection with an exact chunk decoder, lean enough to cost less than the servers.
 * The whole body is collected, since every answer is compared in full.
 */
import net from "node:net";
import { performance } from "node:perf_hooks";
import { microseconds } from "../source.mjs";

const HEAD_END = "\r\n\r\n";

export class Connection {
  /** Of the answer last received. */
  sentAt = 0;
  firstAt = 0;
  /** Where in the body a read ended, and when: pairs, kept while `marking`. */
  marks = [];
  marking = false;
  #port;
  #socket;
  #body = Buffer.allocUnsafe(1 << 16);
  #length = 0;
  #head = "";
  #inHead = false;
  /** Bytes of the chunk still to come; below 0 while a size line is read, 0 after the last one. */
  #left = -1;
  #line = "";
  #skip = 0;
  #settle;

  /** @param {number} port */
  constructor(port) {
    this.#port = port;
  }

  connect() {
    this.#socket = net.connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    this.#socket.on("data", (data) => this.#take(data));
    const lost = () => this.#settle?.reject(new Error("the connection was lost"));
    this.#socket.on("close", lost);
    return new Promise((resolve, reject) => {
      this.#socket.once("connect", resolve);
      this.#socket.on("error", reject);
    });
  }

  close() {
    this.#socket.destroy();
  }

  /** Posts one run; resolves to the whole text of its answer. @returns {Promise<string>} */
  post(input) {
    const body = JSON.stringify(input);
    this.#length = 0;
    this.#head = "";
    this.#inHead = true;
    this.#left = -1;
    this.#line = "";
    this.#skip = 0;
    this.marks.length = 0;
    this.firstAt = 0;
    this.sentAt = performance.now();
    this.#socket.write(
      `POST /agent HTTP/1.1\r\nhost: 127.0.0.1:${this.#port}\r\ncontent-type: application/json\r\n` +
        `accept: text/event-stream\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  #take(data) {
    if (this.#settle === undefined) return;
    if (this.firstAt === 0) this.firstAt = performance.now();
    let at = 0;
    if (this.#inHead) {
      at = this.#takeHead(data);
      if (at < 0) return;
    }
    while (at < data.length) {
      if (this.#left > 0) {
        const stop = Math.min(data.length, at + this.#left);
        this.#append(data, at, stop);
        this.#left -= stop - at;
        at = stop;
        if (this.#left > 0) continue;
        // The line end after a chunk, and then the next size.
        this.#skip = 2;
        this.#left = -1;
      } else {
        const byte = data[at++];
        if (this.#skip > 0) this.#skip--;
        else if (byte !== 10) this.#line += byte === 13 ? "" : String.fromCharCode(byte);
        else if (this.#left === 0) return this.#finish();
        else {
          this.#left = Number.parseInt(this.#line, 16);
          this.#line = "";
        }
      }
    }
    if (this.marking) this.marks.push(this.#length, microseconds());
  }

  /** @returns {number} where the body begins in `data`, -1 while it has not. */
  #takeHead(data) {
    const before = this.#head.length;
    this.#head += data.toString("latin1");
    const end = this.#head.indexOf(HEAD_END);
    if (end < 0) return -1;
    const head = this.#head.slice(0, end).toLowerCase();
    this.#inHead = false;
    if (!head.startsWith("http/1.1 200") || !head.includes("transfer-encoding: chunked")) {
      const { reject } = this.#settle;
      this.#settle = undefined;
      reject(new Error(`not a stream: ${this.#head.slice(0, 400)}`));
      return -1;
    }
    return end + 4 - before;
  }

  #append(data, from, to) {
    const size = to - from;
    if (this.#length + size > this.#body.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#body.length * 2, this.#length + size));
      this.#body.copy(larger, 0, 0, this.#length);
      this.#body = larger;
    }
    data.copy(this.#body, this.#length, from, to);
    this.#length += size;
  }

  #finish() {
    if (this.marking) this.marks.push(this.#length, microseconds());
    const { resolve } = this.#settle;
    this.#settle = undefined;
    resolve(this.#body.toString("utf8", 0, this.#length));
  }
}
