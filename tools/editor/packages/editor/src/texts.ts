/**
 * All texts that users read, in one place, so that they can be translated. Values are put in by `text`.
 * Folders that stand alone keep theirs beside them, in the same form.
 */
export const texts = {
  app: {
    name: "Weft", editor: "Weft editor", connecting: "Connecting…", waiting: "The server is gone. Trying again…", retry: "Try now",
    refused: "The server was started anew and does not know this window any more. Open the address that it printed, or the link of “weft edit”.",
    noToken: "This address has no token. Open the editor by the address that “weft edit” or “weft serve” printed.",
    saved: "Saved {path}", drawing: "Drawing the picture…", failed: "The editor could not start: {reason}", loading: "Opening the page…", opening: "Opening {name}…", notOpened: "“{name}” was not opened: {reason}", noPage: "“{name}” is no page: pages are files .json or .svg. A value, as in .npy, is dropped on an input in the inspector.", readOnly: "Read only",
  },
  common: { reading: "Reading…", cancel: "Cancel", ok: "OK", close: "Close", delete: "Delete", rename: "Rename", search: "Search", save: "Save", discard: "Discard", open: "Open", add: "Add", remove: "Remove", apply: "Apply", none: "None" },
  canvas: {
    name: "Canvas", unknown: "unknown", unknownBlock: "No block type “{type}” is known here. The block stays on the page as it is; it cannot run.",
    addBreakpoint: "Pause before {block}", removeBreakpoint: "Do not pause before {block}", note: "Note: {note}",
    states: { idle: "not run", waiting: "waiting", running: "running", done: "done", skipped: "skipped", failed: "failed", paused: "paused here", stale: "stale" },
    faults: "{n} findings; first: {first}", valueOf: "Value of {port}", changeValue: "Double click to change the value", share: "{percent} % of the run's time",
    frameTitle: "Frame", noteText: "Write a note", doubleClickToEdit: "Double click to edit", fits: "fits", from: "from {port}",
    inProgress: "of the run that is paused", ofRun: "of run {run}", stale: "stale: not computed in the last run", outdated: "of the page before its last edits", noValue: "no value yet: run the page",
    nodeHelp: "Enter selects the block, arrow keys move it, W wires it, Delete removes it.", edgeHelp: "Enter selects the wire, Delete removes it.",
    emptyTitle: "An empty page", emptySvg: "This drawing of enuSpace has no blocks.", notRead: "The page could not be read", readAgain: "Try again", emptyText: "Double click anywhere, or press A, to add a block. Drag from a port to wire it.",
    pageMenu: "Page", wireMenu: "Wire", blockMenu: "Block", inspectValue: "Inspect value", plotValue: "Plot value",
    colors: { blue: "Blue", violet: "Violet", teal: "Teal", green: "Green", amber: "Amber", orange: "Orange", red: "Red", pink: "Pink", grey: "Grey", none: "Colour of its kind" },
  },
  commands: {
    groups: { page: "Page", edit: "Edit", build: "Build", go: "Find and go", run: "Run", view: "View", help: "Help" },
    open: "Open…", newPage: "New page", save: "Save", saveAs: "Save as…", closePage: "Close page", exportSvg: "Export picture as SVG", exportPng: "Export picture as PNG", exportPage: "Download the page",
    undo: "Undo", redo: "Redo", cut: "Cut", copy: "Copy", paste: "Paste", duplicate: "Duplicate", remove: "Delete", selectAll: "Select all", rename: "Rename",
    addBlock: "Add block…", connect: "Connect to…", addNote: "Add note", addFrame: "Frame the selection", frame: "Frame", arrange: "Arrange", arranging: "Arranging the blocks…", arranged: "Arranged",
    align: { left: "Align left", right: "Align right", top: "Align top", bottom: "Align bottom", centerX: "Align centres in a column", centerY: "Align centres in a row", spreadX: "Spread across", spreadY: "Spread down" },
    find: "Find block…", palette: "All commands…", fit: "Show all", fitSelection: "Show selection", nextFault: "Next fault", bookmark: "Bookmark this view", bookmarked: "Bookmarked", bookmarkName: "View",
    run: "Run", runSteps: "Run N times…", stop: "Stop", pause: "Pause or continue", stepBlock: "Step one block", stepRun: "Step one run", runToHere: "Run to here", breakpoint: "Breakpoint", breakWhen: "Break when…", heat: "Time heat map",
    help: "Help on the block", keys: "Keys", tour: "Tour of a minute", theme: "Light or dark", left: "Blocks and outline", bottom: "Bottom panel", right: "Inspector", outline: "Outline", blocks: "Search the blocks", canvas: "Go to the canvas",
    minimap: "Minimap", values: "Values on blocks", routed: "Routed wires", snap: "Snap to the grid",
  },
  /** Names of edits, as undo and redo show them. */
  edits: {
    add: "Add {what}", remove: "Remove {what}", removeOne: "Remove {n} block", removeMany: "Remove {n} blocks", removeWires: "Remove wires", copiedOne: "Copied {n} block", copiedMany: "Copied {n} blocks",
    pasteOne: "Paste {n} block", pasteMany: "Paste {n} blocks", color: "Colour", rename: "Rename {from} to {to}", renamePage: "Rename the page to {to}", note: "Note on {what}", set: "Set {what}", settings: "Settings of {what}",
    noValue: "“{typed}” is not a value of type {type}.", move: "Move {what}", moveOne: "Move {n} block", moveMany: "Move {n} blocks", wire: "Wire {from} to {to}", disconnect: "Disconnect {what}", align: "Align",
    addFrame: "Add frame", changeFrame: "Change frame", addNote: "Add note", changeNote: "Change note", addPlot: "Add plot", changePlot: "Change plot",
  },
  categories: { nn: "Neural networks", io_ops: "Input and output", core: "Page", no: "Other" },
  palette: {
    name: "Blocks", search: "Search blocks", searchHint: "Name, alias or what it does", none: "No block matches “{query}”.", add: "Add {block}: {summary}", alias: "alias {alias}", found: "{n} blocks",
    quick: "Add a block", quickWire: "Add a block to {port}", quickHint: "Type a name", fitting: "Only blocks that fit {port}", byWords: "by its description", checking: "Asking what fits…",
  },
  toolbar: {
    run: "Run", runWhole: "Run once", resume: "Continue", cannotRun: "The page cannot run: {n} faults. Press to see them.", cannotRunOne: "The page cannot run: 1 fault. Press to see it.", faults: "{n} faults", fault: "{n} fault", untilStopped: "Run until stopped", nTimes: "Run N times…",
    pause: "Pause", stop: "Stop", cancel: "Cancel: variables stay as before", stepBlock: "Step one block", stepRun: "Step one run", mode: "Mode", more: "More ways to run", toHere: "Run to here", interval: "Interval", menu: "Menu",
    modes: { EDIT: "Edit: nothing runs", FREEZE: "Freeze: paused", STEP: "Step", RUN: "Run" },
    running: "Running", starting: "Starting…", paused: "Paused", pausedAt: "Paused at {block}", run_n: "run {n}", left: "{n} left", rate: "{n} runs/s", done: "Done", failed: "Failed", stopped: "Stopped", cancelled: "Cancelled", ended: "Run {run} ended: {outcome} ({runs}; {ms} ms)", idle: "Not run yet",
    heat: "Time heat map", dirty: "not saved", theme: "Light or dark", zoomIn: "Zoom in", zoomOut: "Zoom out", fit: "Show all", clients: "{n} windows look at this page", diskChanged: "changed on disk",
  },
  panels: {
    left: "Blocks and outline", right: "Inspector", bottom: "Details", palette: "Blocks", outline: "Outline", bookmarks: "Views", faults: "Faults", plots: "Plots", values: "Values", breakpoints: "Breakpoints", variables: "Variables", log: "Log",
    noFaults: "Nothing is wrong with this page.", fix: "Replace by “{name}”", goTo: "Show {block}", selectSomething: "Select a block to see its settings, inputs and outputs.", many: "{n} blocks are selected.",
    type: "Type", id: "Id", noteOn: "Note", color: "Colour", inputs: "Inputs", outputs: "Outputs", attributes: "Settings", wired: "from {port}", notWired: "nothing", optional: "optional", disconnect: "Disconnect", connect: "Connect…", editValue: "Edit value", setValue: "Set a value", inspect: "Inspect", plot: "Plot", plotOnPage: "Plot on the page",
    whyNot: "It cannot run, since it depends on", noVariables: "The page has no variables, or has not run yet.", set: "Set", saveState: "Save all to a file…", restoreState: "Restore from a file…", refresh: "Read again",
    noBreakpoints: "No breakpoints. Press F9 on a block, or the dot at its left.", addBreakpoint: "Break when…", breakNaN: "Break on NaN and infinity", hit: "{n} hit", hits: "{n} hits", enabled: "on", noLog: "Nothing has been said yet.", clear: "Clear",
    noValues: "No run yet.", value: "Value", name: "Name", shape: "Type and shape", statistics: "Least, mean, most", plotName: "Value to plot, such as loss.output", noPlots: "Plot an output from its menu in the inspector, or from a wire.", override: "Replace…", overrideHint: "While a run is paused, a value can be replaced.", overrideEnded: "The run is no longer paused: nothing can be replaced now.", feed: "Feed in every run…", feeds: "Fed values", stopFeeding: "Stop feeding {name}", placeholder: "This block type is not known here. It is kept as it is.", unit: "Why?",
    pageProperties: "Page", pageName: "Name", block: "{n} block", blocks: "{n} blocks", wire: "{n} wire", wires: "{n} wires",
  },
  dialogs: {
    openTitle: "Open a page", files: "Files of {folder}", examples: "Examples", templates: "New", recent: "Open", noFiles: "This folder has no pages yet. Begin with an example or an empty page.", blocks: "{n} blocks", filter: "Filter", empty: "Empty page", emptySummary: "Begin with nothing.",
    saveAsTitle: "Save as", path: "File in the folder", overwrite: "Replace the file that is there", saveExists: "“{path}” exists.",
    closeTitle: "Close without saving?", closeText: "“{name}” has edits that are not saved.", diskTitle: "The file was changed by another program", diskText: "“{path}” is not what was opened. Saving would replace what is there now.", reload: "Take the file's", saveAnyway: "Save mine",
    recoveryTitle: "Unsaved edits were kept", recoveryText: "The server ended before these pages were saved.", recover: "Recover", recoverEdited: "“{name}” is open and has other edits. Save or close it first.", missingOne: "{n} edit could not be made again. What was kept stays in the list of recovery until you forget it.", missingMany: "{n} edits could not be made again. What was kept stays in the list of recovery until you forget it.", forget: "Forget", edits: "{n} edits, {when}", later: "Later",
    keysTitle: "Keys", commandsTitle: "Commands", findTitle: "Find block", findHint: "Id, type or note", noMatch: "Nothing matches.", connectTitle: "Connect {block}", connectFrom: "Output or input of {block}", connectTo: "To", noFits: "Nothing fits.",
    breakTitle: "Break when…", breakKind: "Pause", kinds: { before: "Before a block", not_finite: "On NaN or infinity", condition: "When a condition holds" }, block: "Block", anyBlock: "any block", condition: "Condition", conditionHint: "run >= 100, loss.output < 0.5, w.ref[0][2] == 0", fromHit: "From this time on", once: "Only once",
    stepsTitle: "Run N times", steps: "Times", intervalMs: "Pause between runs, in milliseconds", session: "Session", wholePage: "the whole page",
    statePath: "File", overrideTitle: "Replace {name} for this run", setVariableTitle: "Set {name}", inspectTitle: "{name}",
  },
  tour: {
    title: "Tour", next: "Next", back: "Back", done: "Done", skip: "Skip", step: "{k} of {n}",
    steps: [
      { at: ".w-canvas", title: "A page of blocks", text: "This page trains a network of two layers to compute XOR. Blocks are joined by wires from outputs, at the right, to inputs, at the left. Drag the canvas to move, turn the wheel to zoom." },
      { at: ".w-dock-left", title: "More than 380 blocks", text: "Drag a block onto the canvas, or double click the canvas and type its name. Drag from a port: only inputs that fit light up, and the reason is at the pointer where one does not." },
      { at: ".w-dock-right", title: "Settings and values", text: "Select a block to see its settings, what its inputs have, and the last values of its outputs." },
      { at: ".w-run-controls", title: "Run", text: "Run once, many times or until you stop. Pause, step block by block, or set a breakpoint by the dot at a block's left." },
      { at: ".w-dock-bottom, .w-dock-toggle-bottom", title: "Watch it learn", text: "Plot loss.output, then run 500 times. Faults, variables and breakpoints are here, too. Everything can be undone. F1 explains the selected block, ? lists all keys." },
    ],
  },
  empty: {
    title: "Weft", text: "Build a graph of blocks, run it, watch it.", open: "Open a page", example: "Begin with an example", new: "New page", tour: "Take the tour", hint: "Or drop a page here: Weft's own, or enuSpace's JSON and SVG.",
  },
};

/** "1 fault", "3 faults": a text for one and a text for others, with {n}. */
export function plural(n: number, one: string, many: string): string {
  return text(n === 1 ? one : many, { n });
}

/** Puts values into a text: text("{n} blocks", {n: 3}). */
export function text(template: string, values: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (whole, key: string) => (key in values ? String(values[key]) : whole));
}
