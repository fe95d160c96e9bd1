// The page as one HTML file with a place for the data of a run: `vite build --mode one-file`. The command
// `commonplace export RUN html` fills it in.

import { createHash } from "node:crypto";
import type { Plugin } from "vite";

/** Where the data goes; `server/one_file.py` looks for it. */
const PLACE = "<!-- the data of the run -->";

/** Puts script and styles into the page, allows those alone to run, and drops every other file. */
export function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        let page = "";
        const scripts: string[] = [];
        const styles: string[] = [];
        for (const [name, made] of Object.entries(bundle)) {
          if (name.endsWith(".html") && made.type === "asset") page = String(made.source);
          else if (made.type === "chunk") scripts.push(made.code);
          else if (name.endsWith(".css")) styles.push(String(made.source));
          else this.error(`${name} would lie beside the page`);
          delete bundle[name];
        }
        const [script, ...more] = scripts.map(inScript);
        if (!page || !script || more.length)
          this.error(`expected a page and one script, got ${scripts.length} scripts`);
        const style = styles.join("\n");
        if (/<\/style/i.test(style)) this.error("styles that end their element");
        const rules = [
          "default-src 'none'",
          `script-src '${hashOf(script!)}'`,
          `style-src '${hashOf(style)}'`,
          "img-src data: blob:",
          "font-src data:",
          "base-uri 'none'",
          "form-action 'none'",
        ];
        // What vite has put in names files that are not there.
        page = page
          .replace(/<script[^>]*\bsrc=[^>]*><\/script>/g, "")
          .replace(/<link[^>]*\brel="(?:stylesheet|modulepreload|icon)"[^>]*>/g, "")
          .replace(
            /<meta charset[^>]*>/,
            (meta) => `${meta}\n    <meta http-equiv="Content-Security-Policy" content="${rules.join("; ")}" />`,
          )
          .replace("</head>", () => `<style>${style}</style>\n  </head>`)
          .replace("</body>", () => `${PLACE}\n    <script type="module">${script}</script>\n  </body>`);
        this.emitFile({ type: "asset", fileName: "replay.html", source: page });
      },
    },
  };
}

/** Code that does not end its script element: inside strings, which is where such text is, a backslash changes nothing. */
function inScript(code: string): string {
  return code.replace(/<(\/script|!--)/gi, "<\\$1");
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
