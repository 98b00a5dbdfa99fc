export { AttributeForm, writtenValue, type AttributeFormProps } from "./AttributeForm";
export { dtypesOf } from "./dtypes";
export { findSetting, namesAttr, quote, splitList, splitSettings, unquote, withSetting, type Setting } from "./settings";
export { checkValue, isDefault, valueText } from "./values";
export { useDraft, type Draft } from "./useDraft";
