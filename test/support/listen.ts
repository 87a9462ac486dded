/** Servers that a test starts on a free port, and that are gone when it ends. */
import type { Server } from "node:http";
import type { Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";

const open: (() => Promise<void>)[] = [];

/** Closes the servers of a test. */
export async function closeServers(): Promise<void> {
  for (const close of open.splice(0)) await close();
}

/** What is still to be closed after the test. */
export const closeAfterTest = (close: () => Promise<void>): void => void open.push(close);

/** Starts a server; resolves to its address. */
export async function listen(server: Server | Http2Server): Promise<{ url: string; port: number }> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  closeAfterTest(
    () =>
      new Promise((resolve) => {
        if ("closeAllConnections" in server) server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, port };
}
