import { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { forgetToken, takeAccess, WeftClient } from "@weft/client";
import { WeftEditor, texts } from "@weft/editor";
import "./app.css";

const access = takeAccess();
const root = createRoot(document.getElementById("app") as HTMLElement);

/** The editor of the server that this page came from. */
function App({ token }: { token: string }) {
  const [client] = useState(() => new WeftClient({ token }));
  useEffect(() => {
    client.http.onUnauthorized = forgetToken;
  }, [client]);
  return <WeftEditor client={client} page={access.page} />;
}

// another address of the program in the same tab, as after a restart, changes only the fragment
window.addEventListener("hashchange", () => {
  if (/[#&]token=/.test(window.location.hash)) window.location.reload();
});

root.render(access.token
  ? <StrictMode><App token={access.token} /></StrictMode>
  : <main className="weft no-token"><h1>{texts.app.name}</h1><p>{texts.app.noToken}</p></main>);
