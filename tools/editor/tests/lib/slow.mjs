// Servers whose answers take their time.

/** Answers and messages reach all windows of a context `ms` later than the server sends them. */
export async function slow(context, ms) {
  const later = () => new Promise((resolve) => setTimeout(resolve, ms));
  await context.route("**/v1/**", async (route) => {
    const response = await route.fetch().catch(() => null);
    await later();
    await (response ? route.fulfill({ response }) : route.abort()).catch(() => {}); // the window may be closed by then
  });
  await context.routeWebSocket(/./, (socket) => {
    const above = socket.connectToServer();
    socket.onMessage((message) => above.send(message));
    above.onMessage((message) => setTimeout(() => socket.send(message), ms));
  });
}

/** Holds the answers to calls of one method, such as PATCH for edits, below the address `path`, until the function that it gives is called. */
export async function hold(tab, method, path = "**/v1/**") {
  let release;
  const released = new Promise((resolve) => (release = resolve));
  await tab.route(path, async (route) => {
    if (route.request().method() !== method) return route.fallback();
    const response = await route.fetch();
    await released;
    await route.fulfill({ response }).catch(() => {});
  });
  return release;
}

/** What the server tells the windows of a context of its own accord: waits between `hold` and `release`. To be made before they are opened. */
export async function gateSocket(context) {
  let held = null;
  await context.routeWebSocket(/./, (socket) => {
    const above = socket.connectToServer();
    socket.onMessage((message) => above.send(message));
    above.onMessage((message) => (held ? held.push(() => socket.send(message)) : socket.send(message)));
  });
  return {
    hold: () => (held = []),
    release: () => {
      const all = held;
      held = null;
      for (const send of all) send();
    },
  };
}

/** A connection to the server that breaks at `cut`, and cannot be made again before `mend`. To be made before a window is opened. */
export async function breakable(context) {
  let broken = false;
  let sockets = [];
  await context.routeWebSocket(/./, (socket) => {
    if (broken) {
      void socket.close({ code: 4001 });
      return;
    }
    const above = socket.connectToServer();
    sockets.push(socket, above);
  });
  await context.route("**/v1/**", (route) => (broken ? route.abort() : route.continue()));
  return {
    cut() {
      broken = true;
      for (const socket of sockets) void socket.close({ code: 4001 });
      sockets = [];
    },
    mend: () => (broken = false),
  };
}
