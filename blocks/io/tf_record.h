// The records of TensorFlow's record files, for more blocks than the reader of them.
#pragma once

#include <memory>

#include "blocks/io/byte_stream.h"
#include "blocks/io/record_reader.h"

namespace weft::blocks {

std::unique_ptr<RecordSource> MakeTFRecordSource(Encoding encoding);

}  // namespace weft::blocks
