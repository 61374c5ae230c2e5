import VestaBytes
import VestaFirestoreWire
import VestaServiceInterop

/// Indexes as entries of a `firestore.indexes.json`; pure.
extension AdminIndex {
  /// The index of an entry; `nil` for an entry that the engine refuses.
  init?(entry: JSONObject) {
    self.init()
    guard let fields = entry["fields"]?.array?.map({ $0.object.flatMap(Field.init(entry:)) }) else { return nil }
    self.fields = fields.compactMap { $0 }
    guard self.fields.count == fields.count else { return nil }
    scope = Scope(entry: entry)
    state = .ready
  }

  /// The entry of a collection group, without the name that every index ends with.
  func entry(of group: String) -> JSONObject {
    [
      "collectionGroup": .string(group), "queryScope": .string("\(scope.protobufName)"),
      "fields": .array(declaredFields.map { .object($0.entry) }),
    ]
  }

  /// The fields without a name of documents that follows from the others.
  var declaredFields: [Field] {
    var fields = fields
    if fields.count > 1, case .vector? = fields.last?.mode, fields[fields.count - 2] == .name(.ascending) {
      fields.remove(at: fields.count - 2)
    } else if fields.count > 1, fields.last == Self.impliedName(after: fields.dropLast()) {
      fields.removeLast()
    }
    return fields
  }

  /// The fields with the name of documents, as the service lists them.
  var allFields: [Field] {
    var fields = declaredFields
    if case .vector? = fields.last?.mode {
      fields.insert(.name(.ascending), at: fields.count - 1)
    } else if fields.last?.fieldPath != Field.documentName {
      fields.append(Self.impliedName(after: fields[...]))
    }
    return fields
  }

  /// The name has the direction of the field before it.
  private static func impliedName(after fields: ArraySlice<Field>) -> Field {
    .name(fields.last?.mode == .descending ? .descending : .ascending)
  }

  /// An id that is the same for the same index, as nothing else of it is stored.
  var id: String {
    let fields = (try? JSONValue.array(declaredFields.map { .object($0.entry) }).json()) ?? []
    return String(FNV1a.hash("\(scope.protobufName) \(String(decoding: fields, as: UTF8.self))"), radix: 36)
  }
}

extension AdminIndex.Scope {
  /// The scope of an entry; each collection by itself where it has none.
  init(entry: JSONObject) { self = entry["queryScope"]?.string == "COLLECTION_GROUP" ? .collectionGroup : .collection }

  var protobufName: StaticString { self == .collectionGroup ? "COLLECTION_GROUP" : "COLLECTION" }
}

extension AdminIndex.Field {
  static let documentName = "__name__"

  static func name(_ mode: AdminIndex.Mode) -> Self { Self(documentName, mode) }

  fileprivate init?(entry: JSONObject) {
    guard let path = entry["fieldPath"]?.string, let mode = AdminIndex.Mode(entry: entry) else { return nil }
    self.init(path, mode)
  }

  fileprivate var entry: JSONObject {
    var entry: JSONObject = ["fieldPath": .string(fieldPath)]
    for member in mode?.entry.members ?? [] { entry[member.name] = member.value }
    return entry
  }
}

extension AdminIndex.Mode {
  /// The mode of a field of an entry, or of an entry of one field; `mode` is of old files.
  init?(entry: JSONObject) {
    switch (entry["order"] ?? entry["arrayConfig"] ?? entry["mode"])?.string {
    case "ASCENDING": self = .ascending
    case "DESCENDING": self = .descending
    case "CONTAINS", "ARRAY_CONTAINS": self = .contains
    default:
      guard let dimension = entry["vectorConfig"]?.object?["dimension"]?.integer else { return nil }
      self = .vector(dimension: Int32(clamping: dimension))
    }
  }

  /// The members of an entry that say the mode.
  var entry: JSONObject {
    switch self {
    case .ascending: ["order": "ASCENDING"]
    case .descending: ["order": "DESCENDING"]
    case .contains: ["arrayConfig": "CONTAINS"]
    case .vector(let dimension): ["vectorConfig": ["dimension": .integer(Int64(dimension)), "flat": [:]]]
    }
  }
}
