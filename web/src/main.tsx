import { createRoot } from "react-dom/client";
import { App } from "./panels/App";
import { ProblemNote } from "./panels/parts";
import { blocksOf, embeddedSource } from "./run/embedded";
import { httpLibrary } from "./run/http";
import { problemOf } from "./run/problem";
import type { BuildVillage } from "./scene/village";
import "./styles/base.css";
import "./styles/frame.css";
import "./styles/timeline.css";
import "./styles/cards.css";
import "./styles/library.css";
import "./styles/narrow.css";

/** Phaser is most of the code: it comes while the run is read. */
const scene = async (): Promise<BuildVillage> => (await import("./scene/phaser")).buildVillage;

const root = createRoot(document.getElementById("root")!);
const blocks = blocksOf(document);
if (blocks) {
  embeddedSource(blocks).then(
    (source) => root.render(<App scene={scene} source={source} />),
    (thrown: unknown) =>
      root.render(
        <main className="waiting">
          <div className="panel pad">
            <ProblemNote problem={problemOf(thrown)} />
          </div>
        </main>,
      ),
  );
} else {
  root.render(<App scene={scene} library={httpLibrary} />);
}
