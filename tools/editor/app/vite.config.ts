import react from "@vitejs/plugin-react";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { licenses } from "./licenses.ts";

const server = process.env["WEFT_SERVER"] ?? "http://127.0.0.1:8080";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "./",
  plugins: [react(), licenses()],
  worker: { format: "es" },
  build: {
    outDir: fileURLToPath(new URL("../dist", import.meta.url)),
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000,
  },
  // `npm run dev` with a program that serves: its address is in WEFT_SERVER; the program wants its own name as host and origin
  server: { port: 5199, proxy: { "/v1": { target: server, ws: true, changeOrigin: true, headers: { origin: server } } } },
});
