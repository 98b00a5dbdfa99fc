/** Texts of the common controls. */
export const uiTexts = {
  close: "Close",
  dismiss: "Dismiss",
  notifications: "Notifications",
  resize: "Resize panel",
};
