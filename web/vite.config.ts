import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { oneFile } from "./one-file.ts";

const replay = {
  emptyOutDir: false,
  assetsInlineLimit: Number.MAX_SAFE_INTEGER,
  cssCodeSplit: false,
  modulePreload: false,
  rolldownOptions: { output: { codeSplitting: false }, checks: { pluginTimings: false } },
} as const;

export default defineConfig(({ mode }) => ({
  plugins: [react(), ...(mode === "one-file" ? [oneFile()] : [])],
  base: "./",
  build: {
    outDir: "../src/commonplace/parts/web/static",
    emptyOutDir: true,
    chunkSizeWarningLimit: 1500,
    rolldownOptions: { checks: { pluginTimings: false } },
    ...(mode === "one-file" ? replay : {}),
  },
  server: { proxy: { "/api": { target: "http://127.0.0.1:8000", ws: true } } },
  test: {
    environment: "happy-dom",
    pool: "threads",
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    setupFiles: ["test/patience.ts"],
    include: ["test/**/*.test.{ts,tsx}"],
  },
}));
