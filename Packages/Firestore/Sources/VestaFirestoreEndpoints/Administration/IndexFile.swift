import VestaBytes
import VestaFirestoreWire
import VestaServiceInterop

/// The declared indexes of a database: the text of a `firestore.indexes.json`; pure.
///
/// A change keeps everything else of the text, without its comments. An index has no stored name: its id is a digest of
/// its fields.
///
/// Worked example: the text `{"indexes":[{"collectionGroup":"a","fields":[{"fieldPath":"n","order":"ASCENDING"},
/// {"fieldPath":"m","order":"DESCENDING"}]}]}` is one index with the fields `n`, `m` and `__name__`, the last one
/// descending as `m` is. To create that index with or without its last field is `ALREADY_EXISTS`.
struct IndexFile {
  let database: String
  private var root: JSONObject

  /// Reads a text.
  ///
  /// - Parameters:
  ///   - text: The text; `nil` where no indexes were declared.
  ///   - database: The resource name of the database.
  /// - Throws: `FAILED_PRECONDITION` for a text that JSON's usual form and comments do not explain.
  init(_ text: String?, of database: String) throws(ServiceStatus) {
    self.database = database
    let bytes = JSONComments.removed(from: Array((text ?? "{}").utf8))
    guard let root = try? JSONObject(json: bytes) else {
      throw ServiceStatus(
        .failedPrecondition,
        "The declared indexes of \(database) are not plain JSON and cannot be changed one by one. Declare them again.")
    }
    self.root = root
  }

  /// The text.
  var text: String {
    get throws(BytesError) { String(decoding: try JSONValue.object(root).json(), as: UTF8.self) }
  }

  private func entries(_ list: String) -> [JSONObject] { root[list]?.array?.compactMap(\.object) ?? [] }

  private mutating func set(_ entries: [JSONObject], as list: String) {
    root[list] = .array(entries.map { .object($0) })
  }

  // MARK: Indexes of several fields

  /// The indexes of a collection group, or of all with `-`, by their names.
  func indexes(of group: String) -> [AdminIndex] {
    entries("indexes").compactMap { entry -> AdminIndex? in
      let found = Self.group(of: entry)
      return group == "-" || found == group ? AdminIndex(entry: entry).map { named($0, in: found) } : nil
    }.sorted { UTF8Order.compare($0.name, $1.name) < 0 }
  }

  /// Adds an index.
  ///
  /// - Returns: The index with its name.
  /// - Throws: `ALREADY_EXISTS`.
  mutating func add(_ index: AdminIndex, to group: String) throws(ServiceStatus) -> AdminIndex {
    let added = named(index, in: group)
    guard !indexes(of: group).contains(where: { $0.name == added.name }) else {
      throw ServiceStatus(.alreadyExists, "index already exists")
    }
    set(entries("indexes") + [index.entry(of: group)], as: "indexes")
    return added
  }

  /// Removes an index.
  ///
  /// - Throws: `NOT_FOUND`.
  mutating func remove(_ name: AdminName) throws(ServiceStatus) {
    let entries = entries("indexes")
    let others = entries.filter { Self.group(of: $0) != name.group || AdminIndex(entry: $0)?.id != name.id }
    guard others.count < entries.count else { throw Self.missing(name) }
    set(others, as: "indexes")
  }

  /// Adds what another file declares, as a deployment does.
  ///
  /// An index that is declared already is not added again, and the indexes of a field are replaced by the other file's.
  /// Fields that the other file does not name stay.
  mutating func add(_ other: IndexFile) {
    var known = Set(indexes(of: "-").map(\.name))
    let added = other.entries("indexes").filter { entry in
      // An entry that is none is left for the engine to report.
      guard let index = AdminIndex(entry: entry) else { return true }
      return known.insert(named(index, in: Self.group(of: entry)).name).inserted
    }
    if !added.isEmpty { set(entries("indexes") + added, as: "indexes") }
    let overrides = other.entries("fieldOverrides")
    guard !overrides.isEmpty else { return }
    let kept = entries("fieldOverrides").filter { entry in
      !overrides.contains { Self.group(of: $0) == Self.group(of: entry) && $0["fieldPath"] == entry["fieldPath"] }
    }
    set(kept + overrides, as: "fieldOverrides")
  }

  static func missing(_ name: AdminName) -> ServiceStatus {
    ServiceStatus(.notFound, "There is no index \(name.id.prefix(100)) of \(name.group.prefix(200)).")
  }

  private func named(_ index: AdminIndex, in group: String) -> AdminIndex {
    var named = index
    named.name = "\(database)/collectionGroups/\(group)/indexes/\(index.id)"
    (named.fields, named.state) = (index.allFields, .ready)
    return named
  }

  /// Old files call the group `collectionId`.
  private static func group(of entry: JSONObject) -> String {
    (entry["collectionGroup"] ?? entry["collectionId"])?.string ?? ""
  }

  // MARK: Indexes of one field

  /// The fields of a collection group, or of all with `-`, that have other indexes than usual.
  func fields(of group: String) -> [AdminField] {
    entries("fieldOverrides").compactMap { entry -> AdminField? in
      guard let path = entry["fieldPath"]?.string, group == "-" || Self.group(of: entry) == group else { return nil }
      return field(path, in: Self.group(of: entry))
    }.sorted { UTF8Order.compare($0.name, $1.name) < 0 }
  }

  /// A field, with its indexes or its ancestor's.
  func field(_ path: String, in group: String) -> AdminField {
    var (field, config) = (AdminField(), AdminField.IndexConfig())
    field.name = name(of: path, in: group)
    let ancestor = ancestor(of: path, in: group)
    config.ancestorField = ancestor?.name ?? defaultField.name
    if let own = override(of: path, in: group) {
      config.indexes = Self.indexes(of: own, path)
    } else {
      config.usesAncestorConfig = true
      config.indexes = ancestor.map { Self.indexes(of: $0.entry, path) } ?? Self.usual(path)
    }
    field.indexConfig = config
    return field
  }

  /// The field whose indexes all fields have that have no others.
  var defaultField: AdminField {
    var (field, config) = (AdminField(), AdminField.IndexConfig())
    field.name = name(of: "*", in: Self.defaultGroup)
    config.indexes = Self.usual("*")
    field.indexConfig = config
    return field
  }

  /// The collection group of the field that stands for all.
  static let defaultGroup = "__default__"

  /// Sets the indexes of a field; `nil` for its ancestor's.
  mutating func set(_ indexes: [AdminIndex]?, of path: String, in group: String) {
    var entries = entries("fieldOverrides")
    let place = entries.firstIndex { $0["fieldPath"]?.string == path && Self.group(of: $0) == group }
    switch (place, indexes) {
    case (let place?, nil): entries.remove(at: place)
    case (let place?, let indexes?): entries[place]["indexes"] = Self.entries(indexes)
    case (nil, let indexes?):
      entries.append([
        "collectionGroup": .string(group), "fieldPath": .string(path), "indexes": Self.entries(indexes),
      ])
    case (nil, nil): return
    }
    set(entries, as: "fieldOverrides")
  }

  private static func entries(_ indexes: [AdminIndex]) -> JSONValue {
    .array(
      indexes.compactMap { index in
        guard var entry = index.fields.first?.mode?.entry else { return nil }
        entry["queryScope"] = .string("\(index.scope.protobufName)")
        return .object(entry)
      })
  }

  private static func indexes(of entry: JSONObject, _ path: String) -> [AdminIndex] {
    (entry["indexes"]?.array ?? []).compactMap(\.object).compactMap { index in
      AdminIndex.Mode(entry: index).map { one(path, $0, AdminIndex.Scope(entry: index)) }
    }
  }

  private static func usual(_ path: String) -> [AdminIndex] {
    [.ascending, .descending, .contains].map { one(path, $0, .collection) }
  }

  private static func one(_ path: String, _ mode: AdminIndex.Mode, _ scope: AdminIndex.Scope) -> AdminIndex {
    var index = AdminIndex()
    (index.fields, index.scope, index.state) = ([AdminIndex.Field(path, mode)], scope, .ready)
    return index
  }

  private func override(of path: String, in group: String) -> JSONObject? {
    entries("fieldOverrides").first { $0["fieldPath"]?.string == path && Self.group(of: $0) == group }
  }

  /// The longest map that a field is in and that has other indexes than usual, or all fields of the group.
  private func ancestor(of path: String, in group: String) -> (name: String, entry: JSONObject)? {
    entries("fieldOverrides").compactMap { entry -> (path: String, entry: JSONObject)? in
      guard Self.group(of: entry) == group, let other = entry["fieldPath"]?.string, other != path else { return nil }
      guard other == "*" || path.hasPrefix(other + ".") else { return nil }
      return (other, entry)
    }.max { $0.path == "*" || ($1.path != "*" && $0.path.utf8.count < $1.path.utf8.count) }
      .map { (name(of: $0.path, in: group), $0.entry) }
  }

  private func name(of path: String, in group: String) -> String {
    "\(database)/collectionGroups/\(group)/fields/\(path)"
  }
}
