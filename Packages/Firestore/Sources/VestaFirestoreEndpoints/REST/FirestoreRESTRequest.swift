import VestaBytes
import VestaServiceInterop
import VestaTransportInterop

/// A request over REST, as the call and the message that it means; pure.
///
/// Documents are found by their path, and everything else of the message is in the body or in the query: each is a
/// member of the message, so that one reader knows all names.
struct FirestoreRESTRequest {
  /// The name of the call: `GetDocument`.
  let call: String
  /// The message of the call.
  let message: JSONValue

  /// The calls after a colon, by their names in a path.
  private static let verbs = [
    "batchGet": "BatchGetDocuments", "batchWrite": "BatchWrite", "beginTransaction": "BeginTransaction",
    "commit": "Commit", "executePipeline": "ExecutePipeline", "listCollectionIds": "ListCollectionIds",
    "listen": "Listen", "partitionQuery": "PartitionQuery", "rollback": "Rollback",
    "runAggregationQuery": "RunAggregationQuery", "runQuery": "RunQuery", "write": "Write",
  ]

  /// The calls after a colon whose place is a document or the root.
  private static let ofParents: Set = ["ListCollectionIds", "PartitionQuery", "RunAggregationQuery", "RunQuery"]

  /// Reads a request.
  ///
  /// - Throws: `NOT_FOUND` for a path that means no call, `INVALID_ARGUMENT` for what is wrong in it or in the body.
  init(_ method: HTTPMethod, path: Substring, query: Substring?, body: [UInt8]) throws(ServiceStatus) {
    var path = path
    var verb: String?
    if method == .post, let colon = path.lastIndex(of: ":"),
      let call = Self.verbs[String(path[path.index(after: colon)...])]
    {
      verb = call
      path = path[..<colon]
    }
    let place = try RESTPlace(path)
    var object: JSONObject
    if let verb {
      object = try RESTBody.object(body)
      guard Self.ofParents.contains(verb) ? place.ids.count.isMultiple(of: 2) : place.ids.isEmpty else {
        throw RESTPlace.nothing(at: path)
      }
      if Self.ofParents.contains(verb) {
        object["parent"] = .string(place.name)
      } else {
        object["database"] = .string(place.database)
      }
      call = verb
    } else {
      (call, object) = try Self.document(method, place, path, body)
    }
    try RESTQuery.bind(query, to: &object, isWhole: verb != nil)
    message = .object(object)
  }

  /// The calls for documents: their method and the place say which one it is.
  private static func document(
    _ method: HTTPMethod, _ place: RESTPlace, _ path: Substring, _ body: [UInt8]
  ) throws(ServiceStatus) -> (String, JSONObject) {
    let isDocument = place.ids.count.isMultiple(of: 2)
    switch (method, isDocument) {
    case (.get, true) where !place.ids.isEmpty: return ("GetDocument", ["name": .string(place.name)])
    case (.delete, true) where !place.ids.isEmpty: return ("DeleteDocument", ["name": .string(place.name)])
    case (.patch, true) where !place.ids.isEmpty:
      var document = try RESTBody.object(body)
      document["name"] = .string(place.name)
      return ("UpdateDocument", ["document": .object(document)])
    case (.get, false):
      return ("ListDocuments", ["parent": .string(place.parent), "collectionId": .string(place.ids.last ?? "")])
    case (.post, false):
      let message: JSONObject = [
        "parent": .string(place.parent), "collectionId": .string(place.ids.last ?? ""),
        "document": .object(try RESTBody.object(body)),
      ]
      return ("CreateDocument", message)
    default: throw RESTPlace.nothing(at: path)
    }
  }
}

/// The place that a path means: a database, and ids of collections and documents in turn.
///
/// Old clients use the version `v1beta1`, which has the same calls and messages as `v1`.
struct RESTPlace {
  let database: String
  let ids: [String]

  init(_ path: Substring) throws(ServiceStatus) {
    let raw = path.parts(at: "/").dropFirst()
    guard raw.count >= 6, raw[1] == "v1" || raw[1] == "v1beta1", raw[2] == "projects", raw[4] == "databases",
      raw[6] == "documents"
    else {
      throw Self.nothing(at: path)
    }
    var parts: [String] = []
    for part in raw {
      guard let text = try? PercentEncoding.decode(part), !text.isEmpty, !text.utf8.contains(UInt8(ascii: "/")) else {
        throw ServiceStatus(.invalidArgument, "The path \"\(path.prefix(200))\" has an id that is none.")
      }
      parts.append(text)
    }
    database = parts[1...4].joined(separator: "/")
    ids = Array(parts[6...])
  }

  /// The document, or the root of the database's documents.
  var name: String { (["\(database)/documents"] + ids).joined(separator: "/") }

  /// The path of the parent of the last id.
  var parent: String { (["\(database)/documents"] + ids.dropLast()).joined(separator: "/") }

  static func nothing(at path: Substring) -> ServiceStatus {
    ServiceStatus(.notFound, "There is no such call at \"\(path.prefix(200))\".")
  }
}
