import Foundation
import VestaDatabaseBackend
import VestaDatabaseModel

/// A key, and the one before or after it in the alphabet of push ids.
struct KeyNeighborCase {
  let operation: String
  let key: DatabaseKey
  let expected: String

  static func read(_ folder: URL) throws -> [(name: String, test: KeyNeighborCase)] {
    try jsonFiles(in: folder).flatMap { file, content -> [(String, KeyNeighborCase)] in
      let cases = (content as? [String: Any])?["cases"] as? [[String: String]]
      guard let cases else { throw UnreadableCase(description: "\(file) has no list of cases") }
      return cases.enumerated().compactMap { index, fields -> (String, KeyNeighborCase)? in
        guard let operation = fields["op"], let key = fields["key"], let expected = fields["expect"] else { return nil }
        let test = KeyNeighborCase(operation: operation, key: DatabaseKey(key), expected: expected)
        return ("\(file), case \(index)", test)
      }
    }
  }

  func failure() -> String? {
    let neighbors = KeyNeighbors.pushIDs
    let result = operation == "successor" ? neighbors.successor(of: key) : neighbors.predecessor(of: key)
    return result.text == expected ? nil : "\(operation) of \(key) is \(result), not \(expected)"
  }
}
