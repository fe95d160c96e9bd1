// All drawings on a few large textures. Pictures are added when they are first needed and uploaded together.

import type * as Phaser from "phaser";
import type { Picture } from "./art/paint";

const SIDE = 2048;

export interface Atlas {
  /** The page and frame of a drawing, made on first use. */
  frame(key: string, draw: () => Picture): { readonly page: string; readonly key: string };
  flush(): void;
}

export function buildAtlas(textures: Phaser.Textures.TextureManager): Atlas {
  const pages: {
    texture: Phaser.Textures.CanvasTexture;
    context: CanvasRenderingContext2D;
    x: number;
    y: number;
    row: number;
    dirty: boolean;
  }[] = [];
  const known = new Map<string, { page: string; key: string }>();

  function pageFor(w: number, h: number): (typeof pages)[number] {
    const tall = Math.max(SIDE, h);
    for (const page of pages.slice(-3)) {
      if (page.x + w + 2 > SIDE && page.y + page.row + h + 4 <= SIDE) {
        page.x = 0;
        page.y += page.row + 2;
        page.row = 0;
      }
      if (page.x + w + 2 <= SIDE && page.y + h + 2 <= SIDE) return page;
    }
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(SIDE, w);
    canvas.height = tall;
    const texture = textures.addCanvas(`atlas${pages.length}`, canvas);
    const context = canvas.getContext("2d");
    if (!texture || !context) throw new Error("no canvas to draw on");
    const page = { texture, context, x: 0, y: 0, row: 0, dirty: false };
    pages.push(page);
    return page;
  }

  return {
    frame(key, draw) {
      const had = known.get(key);
      if (had) return had;
      const drawn = draw();
      const page = pageFor(drawn.w, drawn.h);
      page.context.putImageData(imageOf(drawn), page.x, page.y);
      page.texture.add(key, 0, page.x, page.y, drawn.w, drawn.h);
      page.x += drawn.w + 2;
      page.row = Math.max(page.row, drawn.h);
      page.dirty = true;
      const made = { page: page.texture.key, key };
      known.set(key, made);
      return made;
    },
    flush() {
      for (const page of pages) {
        if (!page.dirty) continue;
        page.dirty = false;
        page.texture.refresh();
      }
    },
  };
}

export function imageOf({ px, w, h }: Picture): ImageData {
  return new ImageData(new Uint8ClampedArray(px.buffer as ArrayBuffer, px.byteOffset, px.byteLength), w, h);
}

/** A picture as a data URL, `scale` times as large. */
export function urlOf(drawn: Picture, scale: number): string {
  const small = document.createElement("canvas");
  small.width = drawn.w;
  small.height = drawn.h;
  small.getContext("2d")?.putImageData(imageOf(drawn), 0, 0);
  const canvas = document.createElement("canvas");
  canvas.width = drawn.w * scale;
  canvas.height = drawn.h * scale;
  const context = canvas.getContext("2d");
  if (!context) return "";
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}
