import { useCell, useWorkbench } from "../model/react";
import { texts } from "../texts";
import { Button } from "../ui";

const t = texts.app;

/** Says when the server is gone, or does not know this window any more. Nothing while all is well. */
export function ConnectionBar() {
  const workbench = useWorkbench();
  const connection = useCell(workbench.connection);
  const started = useCell(workbench.schema) !== null;
  if (connection.state === "refused") return <div className="w-connection w-connection-refused" role="alert">{t.refused}</div>;
  if (!started || connection.state === "open" || connection.state === "closed") return null;
  return (
    <div className="w-connection" role="status">
      {t.waiting}
      <Button small onClick={() => workbench.client.socket.retryNow()}>{t.retry}</Button>
    </div>
  );
}
