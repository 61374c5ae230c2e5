import VestaFirestoreModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension FirestoreIndexes {
  /// Reads Firebase's index file, `firestore.indexes.json`; comments are allowed, as in Firebase's tools.
  ///
  /// - Parameter text: The text of the file.
  /// - Throws: `FirestoreIndexesError`, which names the entry.
  public init(json text: String) throws(FirestoreIndexesError) { try self.init(json: Data(text.utf8)) }

  /// Reads Firebase's index file, `firestore.indexes.json`; comments are allowed, as in Firebase's tools.
  ///
  /// - Parameter bytes: The bytes of the file, such as a `Data` or an array.
  /// - Throws: `FirestoreIndexesError`, which names the entry.
  public init(json bytes: some Sequence<UInt8>) throws(FirestoreIndexesError) {
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    let value: IndexFileValue
    do { value = try decoder.decode(IndexFileValue.self, from: Data(bytes)) } catch {
      throw FirestoreIndexesError(.malformed, "The text is no JSON: \(error)")
    }
    let file = IndexFileEntry(value: value, location: "")
    self.init(
      indexes: try file.elements("indexes").map { entry throws(FirestoreIndexesError) in try Index(entry) },
      fieldOverrides: try file.elements("fieldOverrides").map { entry throws(FirestoreIndexesError) in
        try FieldOverride(entry)
      })
  }
}

extension FirestoreIndexes.Index {
  fileprivate init(_ entry: IndexFileEntry) throws(FirestoreIndexesError) {
    try entry.refuse("apiScope", except: "ANY_API")
    try entry.refuse("density", except: "SPARSE_ALL")
    if case .boolean(true)? = entry["unique"]?.value {
      throw FirestoreIndexesError(.unsupported, entry: entry.location + ".unique", "Unique indexes are not supported.")
    }
    let fields = try entry.required("fields").elements.map { (field) throws(FirestoreIndexesError) in
      try FirestoreIndexes.Field(field)
    }
    // Old files call it collectionId.
    let group = try entry.required(entry["collectionId"] == nil ? "collectionGroup" : "collectionId").text
    let scope = try FirestoreIndexes.Scope(entry)
    do throws(FirestoreIndexesError) {
      try self.init(collectionGroup: group, scope: scope, fields: fields)
    } catch {
      throw error.at(entry.location)
    }
  }
}

extension FirestoreIndexes.FieldOverride {
  fileprivate init(_ entry: IndexFileEntry) throws(FirestoreIndexesError) {
    let indexes = try entry.required("indexes").elements.map {
      (index) throws(FirestoreIndexesError) -> Index in
      try index.refuse("apiScope", except: "ANY_API")
      return Index(scope: try .init(index), try .init(index))
    }
    var isTimeToLive = false
    if let ttl = entry["ttl"] {
      guard case .boolean(let value) = ttl.value else { throw ttl.wrong("true or false") }
      isTimeToLive = value
    }
    let (group, path) = (try entry.required("collectionGroup").text, try entry.required("fieldPath").text)
    do throws(FirestoreIndexesError) {
      try self.init(collectionGroup: group, fieldPath: path, indexes: indexes, isTimeToLive: isTimeToLive)
    } catch {
      throw error.at(entry.location)
    }
  }
}

extension FirestoreIndexes.Scope {
  fileprivate init(_ entry: IndexFileEntry) throws(FirestoreIndexesError) {
    guard let scope = entry["queryScope"] else {
      self = .collection
      return
    }
    guard let known = Self(rawValue: try scope.text) else { throw scope.wrong("COLLECTION or COLLECTION_GROUP") }
    self = known
  }
}

extension FirestoreIndexes.Field {
  fileprivate init(_ entry: IndexFileEntry) throws(FirestoreIndexesError) {
    let mode = try FirestoreIndexes.Mode(entry)
    let path = try entry.required("fieldPath").text
    do throws(FirestoreIndexesError) {
      try self.init(path, mode)
    } catch {
      throw error.at(entry.location)
    }
  }
}

extension FirestoreIndexes.Mode {
  fileprivate init(_ entry: IndexFileEntry) throws(FirestoreIndexesError) {
    let given = ["order", "arrayConfig", "vectorConfig", "mode"].filter { entry[$0] != nil }
    guard given.count == 1, let config = entry[given[0]] else {
      throw FirestoreIndexesError(
        .invalidEntry, entry: entry.location, "One of order, arrayConfig and vectorConfig is needed.")
    }
    if given == ["vectorConfig"] {
      let dimension = try config.required("dimension")
      guard case .number(let number) = dimension.value, let count = Int(exactly: number) else {
        throw dimension.wrong("a whole number")
      }
      self = .vector(dimension: count)
      return
    }
    switch (given[0], try config.text) {
    case ("order", "ASCENDING"), ("mode", "ASCENDING"): self = .ascending
    case ("order", "DESCENDING"), ("mode", "DESCENDING"): self = .descending
    case ("arrayConfig", "CONTAINS"), ("mode", "ARRAY_CONTAINS"): self = .contains
    default: throw config.wrong(given[0] == "arrayConfig" ? "CONTAINS" : "ASCENDING or DESCENDING")
    }
  }
}

/// A value of the file.
private enum IndexFileValue: Decodable {
  case text(String)
  case number(Double)
  case boolean(Bool)
  case array([IndexFileValue])
  case object([String: IndexFileValue])
  case null

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .boolean(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else if let value = try? container.decode([IndexFileValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: IndexFileValue].self))
    }
  }
}

/// A value of the file with its place in it.
private struct IndexFileEntry {
  let value: IndexFileValue
  let location: String

  subscript(name: String) -> IndexFileEntry? {
    guard case .object(let object) = value, let found = object[name] else { return nil }
    return IndexFileEntry(value: found, location: location.isEmpty ? name : "\(location).\(name)")
  }

  func required(_ name: String) throws(FirestoreIndexesError) -> IndexFileEntry {
    guard case .object = value else { throw wrong("an object") }
    guard let entry = self[name] else {
      throw FirestoreIndexesError(.invalidEntry, entry: location, "\"\(name)\" is missing.")
    }
    return entry
  }

  var text: String {
    get throws(FirestoreIndexesError) {
      guard case .text(let text) = value else { throw wrong("a text") }
      return text
    }
  }

  var elements: [IndexFileEntry] {
    get throws(FirestoreIndexesError) {
      guard case .array(let values) = value else { throw wrong("an array") }
      return values.enumerated().map { IndexFileEntry(value: $0.element, location: "\(location)[\($0.offset)]") }
    }
  }

  /// The elements of a list that need not be there.
  func elements(_ name: String) throws(FirestoreIndexesError) -> [IndexFileEntry] {
    guard case .object = value else { throw wrong("an object") }
    return try self[name]?.elements ?? []
  }

  /// Refuses what changes the meaning of an index and is not supported.
  func refuse(_ name: String, except usual: String) throws(FirestoreIndexesError) {
    guard let entry = self[name], try entry.text != usual else { return }
    throw FirestoreIndexesError(.unsupported, entry: entry.location, "\(try entry.text) is not supported.")
  }

  func wrong(_ wanted: String) -> FirestoreIndexesError {
    FirestoreIndexesError(.invalidEntry, entry: location, "The value must be \(wanted).")
  }
}
