import { spawn } from "node:child_process";

/** Opens a page in the human's browser, where there is one; otherwise the address that was printed has to do. */
export function openBrowser(url: string): void {
  const [command, ...args] =
    process.platform === "darwin"
      ? ["open", url]
      : process.platform === "win32"
        ? ["cmd", "/c", "start", "", url]
        : ["xdg-open", url];
  const child = spawn(command as string, args, { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
}
