import { defineConfig } from "vitest/config";

/** Browser tests: one after another, since each has a program and a browser of its own. */
export default defineConfig({
  test: { include: ["tests/**/*.spec.ts"], environment: "node", fileParallelism: false, testTimeout: 60_000, hookTimeout: 60_000 },
});
