import SQLiteBaseline
import VestaFirestoreBackend

/// The documents of the benchmarks; their rows are about as long as the rows that SQLite is given by hand.
enum Items {
  /// The row that the engine stores for one document, times included.
  static let rowLength = 180

  static let collection = "items"

  static func id(_ number: Int) -> String { "item" + padded(number, to: 16) }

  /// A document of ten fields.
  ///
  /// - Parameters:
  ///   - number: Its number; documents of different numbers are different documents.
  ///   - seed: A further value on which its contents depend.
  static func document(_ number: Int, in root: String, seed: Int = 0) -> Document {
    let random = Workload.mix(seed &* 1_000_003 &+ number)
    return Document(
      name: "\(root)/\(collection)/\(id(number))",
      fields: [
        "at": .timestamp(Timestamp(seconds: 1_700_000_000 + Int64(random % 1_000_000), nanos: 5_000)),
        "done": .boolean(random % 2 == 0),
        "group": .integer(Int64(number % 10)),
        // In no order at all, as with identifiers made by chance.
        "number": .integer(Int64(Workload.mix(number) % 1_000_000_000)),
        "price": .double(Double(random % 100_000) / 100),
        // In the order of the names, as with identifiers that begin with a time.
        "sequence": .integer(Int64(number)),
        "shelf": .integer(Int64(number / 10 % 5_000)),
        "tags": .array([.string("tag" + padded(random % 100, to: 5)), .string("tag" + padded(random % 77, to: 5))]),
        "title": .string("title of the item " + padded(random % 1_000_000, to: 8)),
      ])
  }

  private static func padded(_ number: Int, to length: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, length - digits.count)) + digits
  }
}
