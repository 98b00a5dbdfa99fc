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
