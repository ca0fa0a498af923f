// ReplayToken.swift: one failure as a word: all that is needed to record the run again and go to
// the same crash state. Text: `fl1-` and the recipe's JSON in base64url (RFC 4648, section 5)
// without padding; then the seal of the user whose run made it, if they can have one (TokenSeal).
// Invariant: the same seed and the same program give the same user the same token, so nothing in it
// depends on time, process numbers or random bytes that the program wrote.

import Foundation
import LabCore

/// Text form of recipes; `ReplayRecipe` lists the kinds that can be replayed.
package enum ReplayToken {
  private static let prefix = "fl1-"
  private static let limitBytes = 1 << 20

  /// A recipe as one word.
  package static func encode(_ recipe: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(recipe) else {
      preconditionFailure("a recipe of strings and numbers always encodes")
    }
    let text = data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
    let token = prefix + text.replacing("=", with: "")
    return TokenSeal.seal(token).map { "\(token)\(TokenSeal.separator)\($0)" } ?? token
  }

  /// The recipe of a token.
  /// - Throws: `LabError` with code `.usage` for anything that `encode` did not write.
  package static func decode<Recipe: Decodable>(_ token: String) throws(LabError) -> Recipe {
    let text = token.trimmingCharacters(in: .whitespacesAndNewlines)
    guard text.hasPrefix(prefix) else {
      throw .usage("'\(text.prefix(24))…' is not a replay token: one begins with \(prefix)")
    }
    guard text.utf8.count <= limitBytes else {
      throw .usage("a replay token of \(text.utf8.count) bytes; at most \(limitBytes) are taken")
    }
    guard let unsealed = TokenSeal.unsealed(text) else { throw damaged }
    var body = unsealed.dropFirst(prefix.count).replacing("-", with: "+").replacing("_", with: "/")
    while body.count % 4 != 0 { body += "=" }
    guard let data = Data(base64Encoded: String(body)),
      let recipe = try? JSONDecoder().decode(Recipe.self, from: data)
    else { throw damaged }
    return recipe
  }

  private static let damaged = LabError.usage(
    "the replay token is damaged: copy it again, whole, from the report")
}
