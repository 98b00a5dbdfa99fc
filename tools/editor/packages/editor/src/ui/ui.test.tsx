import { describe, expect, it, vi } from "vitest";
import { act, useState } from "react";
import { mount, press } from "../../test/mount";
import { Menu } from "./Menu";
import { Notifications, ToastArea } from "./toasts";
import { Split } from "./Split";
import { Tabs } from "./Tabs";
import { Tree, treeMove, type TreeRow } from "./Tree";
import { windowOf } from "./virtual";

describe("Menu", () => {
  it("is driven by arrows and letters, skips nothing, and does not choose what is disabled", () => {
    const chosen = vi.fn(), closed = vi.fn();
    const items = [
      { label: "Copy", onSelect: () => chosen("copy") }, "separator" as const,
      { label: "Delete", disabled: true, onSelect: () => chosen("delete") }, { label: "Rename", onSelect: () => chosen("rename") },
    ];
    mount(<Menu label="Block" at={{ x: 0, y: 0 }} items={items} onClose={closed} />);
    const menu = document.querySelector('[role="menu"]');
    expect(document.activeElement?.textContent).toBe("Copy");
    press(menu, "ArrowUp");
    expect(document.activeElement?.textContent).toBe("Rename");
    press(menu, "d");
    expect(document.activeElement?.textContent).toBe("Delete");
    act(() => (document.activeElement as HTMLElement).click());
    expect(closed).not.toHaveBeenCalled();
    press(menu, "r");
    act(() => (document.activeElement as HTMLElement).click());
    expect(chosen.mock.calls).toEqual([["rename"]]);
    expect(closed).toHaveBeenCalledOnce();
  });
});

describe("Notifications", () => {
  it("keeps errors, drops the others, and says the same text twice", () => {
    vi.useFakeTimers();
    const notifications = new Notifications();
    const host = mount(<ToastArea notifications={notifications} />);
    act(() => { notifications.show("error", "No server"); notifications.show("warning", "Edits are missing", undefined, true); notifications.show("ok", "Saved"); notifications.announce("Connected"); });
    expect(host.querySelectorAll(".w-toast")).toHaveLength(3);
    const first = host.querySelector('[role="status"]')!.textContent;
    act(() => notifications.announce("Connected"));
    expect(host.querySelector('[role="status"]')!.textContent).not.toBe(first);
    act(() => { vi.advanceTimersByTime(6000); });
    expect([...host.querySelectorAll(".w-toast-text")].map((each) => each.textContent)).toEqual(["No server", "Edits are missing"]);
    expect(host.querySelector('[role="alert"]')).not.toBeNull();
    vi.useRealTimers();
  });
});

describe("Split", () => {
  it("is resized by keys within its limits", () => {
    const sizes = vi.fn();
    const host = mount(<Split direction="row" sized="second" size={200} min={190} max={300} onResize={sizes} first="a" second="b" />);
    const line = host.querySelector('[role="separator"]');
    press(line, "ArrowLeft");
    press(line, "ArrowRight");
    press(line, "End");
    expect(sizes.mock.calls).toEqual([[216], [190], [300]]);
  });
});

describe("Tabs", () => {
  it("moves by arrows round the ends, with one tab in the tab order", () => {
    function Host() {
      const [at, setAt] = useState("a");
      return <Tabs label="Pages" tabs={[{ id: "a", label: "A" }, { id: "b", label: "B" }]} selected={at} onSelect={setAt}>{at}</Tabs>;
    }
    const host = mount(<Host />);
    press(host.querySelector('[role="tab"]'), "ArrowLeft");
    expect(host.querySelector('[role="tabpanel"]')!.textContent).toBe("b");
    expect([...host.querySelectorAll('[role="tab"]')].map((tab) => tab.getAttribute("tabindex"))).toEqual(["-1", "0"]);
  });

  it("closes by Delete, which goes no further", () => {
    const [closed, heard] = [vi.fn(), vi.fn()];
    window.addEventListener("keydown", heard);
    const host = mount(<Tabs label="Pages" tabs={[{ id: "a", label: "A" }]} selected="a" onSelect={() => {}} onClose={closed} />);
    press(host.querySelector('[role="tab"]'), "Delete");
    window.removeEventListener("keydown", heard);
    expect([closed.mock.calls, heard.mock.calls]).toEqual([[["a"]], []]);
  });
});

const ROWS: TreeRow[] = [
  { id: "m", level: 1, label: "math", expanded: true, place: 1, siblings: 2 },
  { id: "add", level: 2, label: "add", place: 1, siblings: 2 },
  { id: "mul", level: 2, label: "mul", place: 2, siblings: 2 },
  { id: "s", level: 1, label: "state", expanded: false, place: 2, siblings: 2 },
];

describe("Tree", () => {
  it("moves as the pattern has it", () => {
    expect(treeMove(ROWS, 2, "ArrowLeft", 5)).toBe(0);
    expect(treeMove(ROWS, 0, "ArrowLeft", 5)).toBeUndefined();
    expect(treeMove(ROWS, 0, "ArrowRight", 5)).toBe(1);
    expect(treeMove(ROWS, 3, "ArrowRight", 5)).toBeUndefined();
    expect(treeMove(ROWS, 3, "ArrowDown", 5)).toBe(3);
  });

  it("mounts only what is in view and says what is expanded", () => {
    const rows = Array.from({ length: 5000 }, (_, i) => ({ id: `b${i}`, level: 1, label: `b${i}`, place: i + 1, siblings: 5000 }));
    const toggled = vi.fn();
    const host = mount(<Tree rows={rows} label="Blocks" active="b0" onActive={() => {}} onToggle={toggled} onChoose={() => {}} renderRow={(row) => row.label} />);
    expect(host.querySelectorAll('[role="treeitem"]').length).toBeLessThan(60);
    expect(host.querySelector('[role="treeitem"]')!.getAttribute("aria-setsize")).toBe("5000");
    expect(windowOf(5000, 28, 28 * 100, 280, 0)).toEqual({ first: 100, end: 110 });
  });
});
