// TextModel.swift: the model of the real file's predictive index: of a text its count of bytes and
// its first byte.

import DocumentStore
import Fleece

enum TextModel {
  static let model: PredictiveModel = { input in
    guard let text = try input.dict?.value(for: "text", in: FleeceSharedKeys())?.textBytes else {
      return nil
    }
    var encoder = FleeceEncoder()
    try encoder.beginDict()
    try encoder.key("first")
    try encoder.text(text.count > 0 ? String(decoding: [text[0]], as: UTF8.self) : "")
    try encoder.key("len")
    try encoder.integer(Int64(text.count))
    try encoder.endDict()
    return try encoder.finish()
  }
}
