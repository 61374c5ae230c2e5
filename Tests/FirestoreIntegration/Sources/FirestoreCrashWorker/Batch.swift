import VestaFirestoreBackend

let database = "projects/demo/databases/(default)"
let root = database + "/documents"
let owner = CallContext(caller: .owner)

/// A commit whose parts differ from the parts of any other.
///
/// It makes some documents, deletes the mark of the batch before it in its task and leaves its own mark, and counts
/// itself in a document that all batches share.
struct Batch {
  static let parts = 4
  static let counter = "counters/all"

  let number: Int
  let round: Int
  /// The batch before it in the same task; `nil` for the first one.
  let previous: Int?

  static func collection(_ round: Int) -> String { "parts\(round)" }

  var marks: String { "marks\(round)" }

  func path(_ part: Int) -> String { "\(Batch.collection(round))/\(number)-\(part)" }

  func fields(_ part: Int) -> MapValue {
    [
      "batch": .integer(Int64(number)), "odd": .boolean(number % 2 == 1), "part": .integer(Int64(part)),
      "tags": .array([.integer(Int64(number % 3)), .integer(Int64(part))]),
      // Some are larger than a page.
      "text": .string(String(repeating: "x", count: (number + part) % 7 == 0 ? 9000 : 20 + number % 200)),
    ]
  }

  var writes: [Write] {
    var writes: [Write] = (0..<Batch.parts).map { part in
      .update(
        Document(name: "\(root)/\(path(part))", fields: fields(part)),
        transforms: [FieldTransform(fieldPath: "at", .serverTimestamp)], precondition: .exists(false))
    }
    if let previous { writes.append(.delete("\(root)/\(marks)/\(previous)", precondition: .exists(true))) }
    writes.append(.update(Document(name: "\(root)/\(marks)/\(number)", fields: ["n": .integer(Int64(number))])))
    let count = [
      FieldTransform(fieldPath: "count", .increment(.integer(1))),
      FieldTransform(fieldPath: "highest", .maximum(.integer(Int64(number)))),
    ]
    writes.append(Write(.transform(name: "\(root)/\(Batch.counter)", transforms: count)))
    return writes
  }
}

/// The queries that have indexes.
enum Indexed {
  static func queries(_ round: Int) -> [StructuredQuery] {
    let from = [StructuredQuery.CollectionSelector(collectionID: Batch.collection(round))]
    return [
      StructuredQuery(from: from, filter: .field(path: "tags", .arrayContains, .integer(2))),
      StructuredQuery(from: from, filter: .field(path: "batch", .greaterThan, .integer(0))),
      StructuredQuery(
        from: from, filter: .field(path: "odd", .equal, .boolean(true)),
        orderBy: [.init(fieldPath: "batch", .descending)]),
    ]
  }

  /// Whether a document is a result of the query at that place in the list.
  static func matches(_ query: Int, _ fields: MapValue) -> Bool {
    switch query {
    case 0:
      guard case .array(let tags)? = fields["tags"] else { return false }
      return tags.contains(.integer(2))
    case 1: return fields["batch"] != nil
    default: return fields["odd"] == .boolean(true)
    }
  }
}
