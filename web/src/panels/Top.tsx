// The bar along the top: which run, what time it is there, and what can be looked at.

import type { ReactElement } from "react";
import { dayOf, hourOf, instant } from "../view/clock";
import { useView, useViewStore } from "../view/context";
import { named, useWords } from "../words";
import { Fork } from "./Fork";
import { Icon, skyIcon } from "./icons";
import { LensPicker } from "./LensPicker";
import { Popover } from "./Popover";
import { Button, So } from "./parts";
import type { RoomProps } from "./Room";
import { Settings } from "./Settings";
import { stage } from "./stage-handle";

export function Top({ toLibrary, visit }: RoomProps): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const { town, frame, director, lens } = useView((view) => view);
  const file = useView((view) => view.source.file);
  const forks = useView((view) => view.source.actions !== undefined && view.town.may.includes("fork"));
  const moment = instant(frame.time);
  const sky = named(words.sky, frame.sky);
  return (
    <header className="top panel" data-cover="top">
      {toLibrary && <Button label={words.top.library} icon="book" onClick={toLibrary} />}
      <h1 lang={town.language}>{town.title}</h1>
      <span className="clock" role="timer" aria-label={words.time.at(dayOf(moment, town.start), hourOf(moment))}>
        <span className="day">{words.top.day(dayOf(moment, town.start))}</span> <b>{hourOf(moment)}</b>
      </span>
      <span
        className="weather"
        title={`${named(words.wind, frame.wind)} · ${named(words.temperature, frame.temperature)}`}
      >
        <Icon name={skyIcon(frame.sky, frame.partOfDay)} />
        <span>
          {sky}
          <span className="soft wide">
            {" "}
            · {named(words.wind, frame.wind)} · {named(words.temperature, frame.temperature)}
          </span>
        </span>
      </span>
      <So of="-" />
      <span className="people wide">{words.top.people(frame.agents.size)}</span>
      <Badge />
      <span className="tools">
        <Popover label={words.top.lens} icon="waves" pressed={lens !== null}>
          {(close) => <LensPicker done={close} />}
        </Popover>
        <Button
          label={words.top.director}
          icon="camera"
          keys="D"
          pressed={director}
          onClick={() => store.getState().setDirector(!director)}
        />
        <span className="zoom">
          <Button label={words.top.zoomOut} icon="minus" keys="−" onClick={() => stage.zoom(-1)} />
          <Button label={words.top.zoomIn} icon="plus" keys="+" onClick={() => stage.zoom(1)} />
        </span>
        {forks && (
          <Popover label={words.top.fork} icon="fork">
            {(close) => <Fork visit={visit} done={close} />}
          </Popover>
        )}
        {file && (
          <a
            className="button plain square"
            href={file}
            download
            aria-label={words.top.send}
            title={`${words.top.send} (${words.top.sendHint})`}
          >
            <Icon name="letter" />
          </a>
        )}
        <Popover label={words.top.settings} icon="gear">
          <Settings />
        </Popover>
      </span>
    </header>
  );
}

/** Whether what is shown is happening now. */
function Badge(): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const { live, connection, growing, status, town } = useView((view) => view);
  if (connection === "recorded") return <span className="badge recorded">{words.top.recording}</span>;
  if (connection === "lost")
    return (
      <span className="badge lost" role="status">
        {words.top.lost}
      </span>
    );
  if (!growing) return <span className="badge recorded">{words.top.recording}</span>;
  if (!live) {
    return (
      <button type="button" className="badge past" title={words.time.now} onClick={() => store.getState().backToNow()}>
        {words.top.past}
      </button>
    );
  }
  const playing = status?.live ? status.playing : status ? true : town.playing;
  return <span className={playing ? "badge live" : "badge"}>{playing ? words.top.live : words.top.paused}</span>;
}
