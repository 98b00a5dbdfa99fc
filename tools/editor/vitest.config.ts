import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.{ts,tsx}", "packages/*/test/**/*.test.{ts,tsx}"],
    environment: "jsdom",
    globals: false,
    testTimeout: 30_000, // machines that do much else besides
  },
});
