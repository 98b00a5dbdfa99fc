import { useState } from "react";
import { AttributeForm } from "../../packages/editor/src/forms/AttributeForm";
import { withSetting } from "../../packages/editor/src/forms/settings";
import type { BlockSchema } from "@weft/client";

const conv: BlockSchema = {"block": "Conv2D", "category": "nn", "summary": "Convolves pictures with a filter.", "inputs": [], "outputs": [], "attrs": [{"name": "T", "type": "type", "inferred": true, "allowed": ["DT_HALF", "DT_BFLOAT16", "DT_FLOAT", "DT_DOUBLE", "DT_INT32"], "doc": "the type of input, filter and output"}, {"name": "strides", "type": "list(int)", "doc": "steps of the window, one number an axis in the order of data_format; 1 for batch and channels"}, {"name": "use_cudnn_on_gpu", "type": "bool", "default": true, "doc": "changes nothing on a CPU"}, {"name": "padding", "type": "string", "allowed": ["SAME", "VALID", "EXPLICIT"], "doc": "SAME pads so that a stride of 1 keeps the size, VALID not at all, EXPLICIT as explicit_paddings says"}, {"name": "explicit_paddings", "type": "list(int)", "default": [], "doc": "for EXPLICIT: padding in front of and behind each axis, 8 numbers"}, {"name": "data_format", "type": "string", "default": "NHWC", "allowed": ["NHWC", "NCHW"], "doc": "order of the axes of pictures"}, {"name": "dilations", "type": "list(int)", "default": [1, 1, 1, 1], "doc": "distance of the filter's taps"}, {"name": "epsilon", "type": "float", "default": 0.0001, "doc": "keeps the divisor from 0"}, {"name": "shape", "type": "shape", "default": null, "doc": "of the result"}, {"name": "shared_name", "type": "string", "default": "", "doc": "a name for all sessions"}]};

export function FormsPart() {
  const [attrs, setAttrs] = useState("strides_ = {1,x,1};padding_ = SAME;data_format_ = NCHW;epsilon_ = 0.001f; nchw_ = 1;");
  return (
    <div className="gallery-row">
      <div className="gallery-panel" style={{ width: 320, padding: 12 }}>
        <AttributeForm schema={conv} attrs={attrs} inferred={{ T: "DT_FLOAT" }} faults={{ data_format: "NCHW needs 4 axes, found 3" }}
          onSet={(attr, value) => setAttrs(withSetting(attrs, attr, value))} onSetText={setAttrs} />
      </div>
    </div>
  );
}
