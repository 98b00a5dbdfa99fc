/** Texts of the common controls. */
export const uiTexts = {
  close: "Close",
  dismiss: "Dismiss",
  menu: "Menu",
  notifications: "Notifications",
  resize: "Resize panel",
  more: "More",
};
