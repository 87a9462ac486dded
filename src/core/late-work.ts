/**
 * Work that goes on after its run has finished. A failure that surfaces then is told by one late RUN_ERROR
 * (AG-UI lifecycle); the stream stays open for it, within a bound.
 */
import { at, type Clock } from "./clock.ts";
import { type Ending, failure } from "./ending.ts";

export class LateWork {
  #works: Promise<unknown>[] = [];

  add(work: PromiseLike<unknown>): void {
    const going = Promise.resolve(work);
    // Heard when the run has finished; until then its failure counts as handled.
    going.catch(() => {});
    this.#works.push(going);
  }

  /**
   * Once all of it has settled, how the run failed after all. Resolves to nothing when it went well, or is given
   * up on after `closeTimeoutMs`.
   */
  over(
    { clock, closeTimeoutMs }: { clock: Clock; closeTimeoutMs: number },
    tell: { report: (error: unknown) => void; gaveUp: () => void },
  ): Promise<Ending | undefined> {
    return new Promise((resolve) => {
      const forget = at(clock, clock.now() + closeTimeoutMs, () => {
        tell.gaveUp();
        resolve(undefined);
      });
      Promise.all(this.#works).then(
        () => {
          forget();
          resolve(undefined);
        },
        (error) => {
          forget();
          tell.report(error);
          resolve(failure(error));
        },
      );
    });
  }
}
