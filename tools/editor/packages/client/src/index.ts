export * from "./types";
export { takeAccess, forgetToken, type Access } from "./auth";
export { WeftClient, type ClientOptions, type PageSource } from "./client";
export { bfloat16ToFloat, decodeElements, decodeFrame, decodeSample, halfToFloat, type Frame } from "./frames";
export { Http, WeftError } from "./http";
export { PageApi, renamedPort, type EditOptions, type PageFollower, type SampleOptions } from "./page";
export { Socket, type ConnectionState, type Hello } from "./socket";
