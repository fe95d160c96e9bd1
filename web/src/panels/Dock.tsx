// The left-hand side: what happens, told in different ways. On a narrow page it is a sheet at the bottom.

import type { ReactElement } from "react";
import { useView, useViewStore } from "../view/context";
import type { Tab } from "../view/store";
import { useWords } from "../words";
import { Act } from "./Act";
import { Guard } from "./Guard";
import { Log } from "./Log";
import { MetricsPanel } from "./Metrics";
import { People } from "./People";
import { Button, type TabItem, Tabs } from "./parts";
import { TalkList } from "./TalkList";

export function Dock(): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const tab = useView((view) => view.tab);
  const acts = useView((view) => view.source.actions !== undefined && view.town.may.includes("inputs"));
  const tabs: TabItem<Tab>[] = [
    { id: "talk", label: words.tabs.talk, icon: "talk" },
    { id: "log", label: words.tabs.log, icon: "list" },
    { id: "people", label: words.tabs.people, icon: "people" },
    { id: "metrics", label: words.tabs.metrics, icon: "chart" },
    ...(acts ? [{ id: "act", label: words.tabs.act, icon: "storm" } as const] : []),
  ];
  return (
    <aside
      id="panels"
      className={`dock panel${tab === null ? " closed" : ` tab-${tab}`}`}
      data-cover="left"
      aria-label={words.tabs.panels}
    >
      <Tabs
        label={words.tabs.panels}
        tabs={tabs}
        chosen={tab}
        choose={(chosen) => store.getState().showTab(chosen)}
        panelClass="tabpanel"
      >
        <Guard key={tab}>
          <h2 className="unseen">{tabs.find((one) => one.id === tab)?.label}</h2>
          {tab === "talk" && <TalkList />}
          {tab === "log" && <Log />}
          {tab === "people" && <People />}
          {tab === "metrics" && <MetricsPanel />}
          {tab === "act" && <Act />}
        </Guard>
      </Tabs>
      {tab !== null && (
        <span className="corner">
          <Button label={words.app.close} icon="close" kind="quiet" onClick={() => store.getState().showTab(null)} />
        </span>
      )}
    </aside>
  );
}
