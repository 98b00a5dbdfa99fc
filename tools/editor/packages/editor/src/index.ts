export { texts, text } from "./texts";
