export { AttributeForm, writtenValue, type AttributeFormProps } from "./AttributeForm";
export { InputForm, dtypesOf, type InputFormProps } from "./InputForm";
export { LiteralLine, type LiteralLineProps } from "./LiteralLine";
export { findSetting, namesAttr, quote, splitList, splitSettings, unquote, withSetting, type Setting } from "./settings";
export { checkValue, isDefault, valueText } from "./values";
export { useDraft, type Draft } from "./useDraft";
