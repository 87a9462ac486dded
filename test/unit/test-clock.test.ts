import { describe, expect, it } from "vitest";
import { at } from "../../src/core/clock.ts";
import { createTestClock } from "../../src/testing/clock.ts";

describe("a clock that a test moves", () => {
  it("stands still, at an instant no real clock has reached", () => {
    expect(createTestClock().now()).toBe(Date.parse("2100-01-01T00:00:00.000Z"));
    expect(createTestClock(5).now()).toBe(5);
    expect(() => createTestClock(Number.NaN)).toThrow(RangeError);
  });

  it("fires timers by due time, then in the order they were set, each at its own instant", async () => {
    const clock = createTestClock(1_000);
    const fired: string[] = [];
    const note = (name: string) => () => fired.push(`${name} at ${clock.now()}`);
    clock.setTimeout(note("late"), 30);
    clock.setTimeout(note("first of two"), 20);
    clock.setTimeout(note("second of two"), 20);
    clock.setTimeout(note("early"), 10);
    clock.setTimeout(note("after"), 31);
    expect(clock.pending).toBe(5);
    await clock.advance(30);
    expect(fired).toEqual(["early at 1010", "first of two at 1020", "second of two at 1020", "late at 1030"]);
    expect(clock.now()).toBe(1_030);
    expect(clock.pending).toBe(1);
  });

  it("fires what a timer sets, when that is due within the same advance", async () => {
    const clock = createTestClock(0);
    const fired: number[] = [];
    clock.setTimeout(() => {
      clock.setTimeout(() => fired.push(clock.now()), 5);
      clock.setTimeout(() => fired.push(clock.now()), 6);
    }, 10);
    clock.setTimeout(() => fired.push(clock.now()), 12);
    await clock.advance(15);
    expect(fired).toEqual([12, 15]);
    await clock.advance(1);
    expect(fired).toEqual([12, 15, 16]);
  });

  it("lets what one timer woke happen before the next one fires", async () => {
    const clock = createTestClock(0);
    const order: string[] = [];
    clock.setTimeout(async () => {
      order.push("first fires");
      // As an ask that times out does: a promise, a turn of the loop to end the run, another to write it.
      await Promise.resolve();
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      order.push("what it woke is done");
    }, 10);
    clock.setTimeout(() => order.push("second fires"), 11);
    await clock.advance(11);
    expect(order).toEqual(["first fires", "what it woke is done", "second fires"]);
  });

  it("lets work under way set its timer before it moves", async () => {
    const clock = createTestClock(0);
    const fired: number[] = [];
    void (async () => {
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setTimeout(resolve, 0));
      clock.setTimeout(() => fired.push(clock.now()), 10);
    })();
    await clock.advance(10);
    expect(fired).toEqual([10]);
  });

  it("settles, and fires what is due now, when advanced by nothing", async () => {
    const clock = createTestClock(7);
    const happened: string[] = [];
    setImmediate(() => happened.push("work"));
    clock.setTimeout(() => happened.push("due now"), 0);
    clock.setTimeout(() => happened.push("due later"), 1);
    await clock.advance(0);
    expect(happened).toEqual(["work", "due now"]);
    expect(clock.now()).toBe(7);
  });

  it("forgets a timer that is cleared, also by another that is due with it, and ignores other handles", async () => {
    const clock = createTestClock(0);
    const fired: string[] = [];
    const cleared = clock.setTimeout(() => fired.push("cleared"), 1);
    clock.clearTimeout(cleared);
    clock.setTimeout(() => clock.clearTimeout(second), 2);
    const second = clock.setTimeout(() => fired.push("second"), 2);
    const kept = clock.setTimeout(() => fired.push("kept"), 3);
    expect(clock.pending).toBe(3);
    await clock.advance(5);
    clock.clearTimeout(kept);
    clock.clearTimeout(undefined);
    expect(fired).toEqual(["kept"]);
    expect(clock.pending).toBe(0);
  });

  it("counts delays as real timers do: none for nonsense, one millisecond for what they cannot hold", async () => {
    const clock = createTestClock(0);
    const fired: number[] = [];
    clock.setTimeout(() => fired.push(-1), -1);
    clock.setTimeout(() => fired.push(0), Number.NaN);
    clock.setTimeout(() => fired.push(1), 2 ** 31);
    await clock.advance(0);
    expect(fired).toEqual([-1, 0]);
    await clock.advance(1);
    expect(fired).toEqual([-1, 0, 1]);
  });

  it("carries a deadline that lies further off than one timer reaches", async () => {
    const clock = createTestClock(0);
    const fired: number[] = [];
    at(clock, 2 ** 33, () => fired.push(clock.now()));
    await clock.advance(2 ** 33 - 1);
    expect(fired).toEqual([]);
    await clock.advance(1);
    expect(fired).toEqual([2 ** 33]);
  });

  it("moves once after the other when advanced twice at once", async () => {
    const clock = createTestClock(0);
    const fired: number[] = [];
    for (const ms of [5, 15]) clock.setTimeout(() => fired.push(clock.now()), ms);
    const first = clock.advance(10);
    const second = clock.advance(10).then(() => fired.push(-clock.now()));
    await first;
    expect(clock.now()).toBe(10);
    await second;
    expect(fired).toEqual([5, 15, -20]);
  });

  it("rejects with what a callback threw, stands there, and goes on", async () => {
    const clock = createTestClock(0);
    const fired: number[] = [];
    clock.setTimeout(() => {
      throw new Error("from a timer");
    }, 5);
    clock.setTimeout(() => fired.push(clock.now()), 6);
    await expect(clock.advance(10)).rejects.toThrow("from a timer");
    expect([clock.now(), fired]).toEqual([5, []]);
    await clock.advance(1);
    expect(fired).toEqual([6]);
  });

  it("does not go back", async () => {
    const clock = createTestClock(0);
    await expect(clock.advance(-1)).rejects.toThrow(RangeError);
    await expect(clock.advance(Number.POSITIVE_INFINITY)).rejects.toThrow(RangeError);
    expect(clock.now()).toBe(0);
  });
});
