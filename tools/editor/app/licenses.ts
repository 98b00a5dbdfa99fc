import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const modules = fileURLToPath(new URL("../node_modules", import.meta.url));

/** Writes licenses.txt beside the editor: the licence of every package whose code is in it. */
export function licenses(): Plugin {
  return {
    name: "weft-licenses",
    apply: "build",
    generateBundle(_options, bundle) {
      // elk runs in a worker of its own, which the bundle names as a file, without its modules
      const folders = new Set([join(modules, "elkjs")]);
      for (const file of Object.values(bundle)) {
        for (const id of file.type === "chunk" ? file.moduleIds : []) {
          const name = /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1];
          if (name) folders.add(join(modules, name));
        }
      }
      this.emitFile({ type: "asset", fileName: "licenses.txt", source: [...folders].sort().map(notice).join("\n\n") });
    },
  };
}

function notice(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { name: string; version: string; license?: string };
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  return `${name} ${version} (${license ?? "see below"})\n${"-".repeat(72)}\n${file ? readFileSync(join(folder, file), "utf8").trim() : "no licence file; the package names the licence above"}\n`;
}
