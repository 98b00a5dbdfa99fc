import { createRoot } from "react-dom/client";
import { takeAccess, WeftClient } from "@weft/client";
import { WeftEditor } from "@weft/editor";

const { token } = takeAccess();
const client = new WeftClient({ token: token ?? "", name: "sample" });
createRoot(document.getElementById("editor") as HTMLElement).render(<WeftEditor client={client} page="xor.page.json" />);
