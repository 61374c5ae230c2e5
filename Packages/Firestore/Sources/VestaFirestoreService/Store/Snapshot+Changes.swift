import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// The part of the log that a reader is interested in.
enum ChangeScope: Sendable {
  case everything
  /// The documents of one collection.
  case collection(ResourcePath)
  /// The documents of all collections with one identifier.
  case group(CollectionID)
  /// Documents by name.
  case pathKeys(Set<PathKey>)

  /// The scope of a query's results.
  init(_ query: NormalQuery) {
    guard let collectionID = query.collectionID else {
      self = .everything
      return
    }
    self = query.allDescendants ? .group(collectionID) : .collection(query.parent.path.appending(collectionID))
  }
}

extension ChangeScope {
  /// Whether a document is in the scope.
  fileprivate func contains(_ pathKey: PathKey) throws -> Bool {
    switch self {
    case .everything: true
    case .collection(let collection): pathKey.collectionPrefix == PathKey.prefix(of: collection)
    case .group(let collectionID): try PathKey.collectionID(ofPrefix: pathKey.collectionPrefix) == collectionID
    case .pathKeys(let pathKeys): pathKeys.contains(pathKey)
    }
  }
}

extension Snapshot {
  /// Visits what has been changed after a version, for each document in the order of the commits.
  ///
  /// It costs the changes in the scope, and holds a page of them at a time: the rows of the collections say which parts
  /// of the log to read. The end of the log, which is not sorted by collection yet, is read as it is.
  func visitChanges(
    after version: Int64, in scope: ChangeScope, _ visit: (LoggedChange) throws -> ScanStep
  ) async throws {
    let rest: KeyRange?
    switch scope {
    case .everything: rest = keys.log(after: version)
    case .collection(let collection):
      rest = try await unsorted(after: version)
      if try await self.visit(keys.changes(of: collection), after: version, of: nil, visit) == .stop { return }
    case .group(let collectionID):
      rest = try await unsorted(after: version)
      for collection in try await collections(ofGroup: collectionID) {
        if try await self.visit(collection, after: version, of: nil, visit) == .stop { return }
      }
    case .pathKeys(let pathKeys):
      rest = try await unsorted(after: version)
      let collections = Dictionary(grouping: pathKeys) { $0.collectionPrefix }
      for (collection, pathKeys) in collections {
        let prefix = keys.changes(ofGroup: try PathKey.collectionID(ofPrefix: collection)) + collection
        if try await self.visit(prefix, after: version, of: Set(pathKeys), visit) == .stop { return }
      }
    }
    guard let rest else { return }
    try await visitLog(rest) { change in try scope.contains(change.pathKey) ? try visit(change) : .next }
  }

  /// The part of the log after a version that is not in the rows of the collections; `nil` where commits write these.
  private func unsorted(after version: Int64) async throws -> KeyRange? {
    guard let sorted = try await reader.get(keys.sorted).map({ try PositionRow.position($0) }) else { return nil }
    return sorted.version > version ? keys.log(after: sorted) : keys.log(after: version)
  }

  /// Visits all changes in a range of the log.
  private func visitLog(_ range: KeyRange, _ visit: (LoggedChange) throws -> ScanStep) async throws {
    var rest: KeyRange? = range
    while let range = rest {
      var rows: [LogRow] = []
      rest = try await reader.scan(range, order: .ascending, limit: tuning.log.page) { _, value in
        rows.append(try LogRow(value.bytes))
        return .next
      }.rest
      for change in rows.lazy.flatMap(\.changes) where try visit(change) == .stop { return }
      if rows.isEmpty { return }
    }
  }

  /// All that has been changed after a version.
  func changes(after version: Int64, in scope: ChangeScope) async throws -> [LoggedChange] {
    var changes: [LoggedChange] = []
    try await visitChanges(after: version, in: scope) { change in
      changes.append(change)
      return .next
    }
    return changes
  }

  /// The documents of a group that have been changed after a version.
  func changedPathKeys(after version: Int64, inGroup collectionID: CollectionID) async throws -> Set<PathKey> {
    var pathKeys: Set<PathKey> = []
    let group = keys.changes(ofGroup: collectionID)
    for collection in try await collections(ofGroup: collectionID) {
      let prefix = Array(collection.dropFirst(group.count))
      for entry in try await reader.entries(in: keys.changes(of: collection, after: version)) {
        for part in try ChangeRow(entry.value).parts where part.position.version > version {
          for id in part.ids { pathKeys.insert(PathKey(bytes: prefix + id)) }
        }
      }
    }
    if let rest = try await unsorted(after: version) {
      let scope = ChangeScope.group(collectionID)
      try await visitLog(rest) { change in
        if try scope.contains(change.pathKey) { pathKeys.insert(change.pathKey) }
        return .next
      }
    }
    return pathKeys
  }

  /// Visits the changes of one collection.
  ///
  /// - Parameters:
  ///   - collection: The prefix of the keys of its rows.
  ///   - pathKeys: The documents that are of interest; `nil` for all.
  private func visit(
    _ collection: [UInt8], after version: Int64, of pathKeys: Set<PathKey>?,
    _ visit: (LoggedChange) throws -> ScanStep
  ) async throws -> ScanStep {
    let prefix = Array(collection.dropFirst(keys.changes.count))
    let inside = try Self.pathKeyPrefix(prefix)
    var rest: KeyRange? = keys.changes(of: collection, after: version)
    while let range = rest {
      var positions: [LogPosition] = []
      var count = 0
      rest = try await reader.scan(range, order: .ascending, limit: tuning.log.changePage) { _, value in
        count += 1
        for part in try ChangeRow(value.bytes).parts where part.position.version > version {
          if let pathKeys, !part.ids.contains(where: { pathKeys.contains(PathKey(bytes: inside + $0)) }) { continue }
          positions.append(part.position)
        }
        return .next
      }.rest
      // Parts of the log may be large: few are held at a time.
      let most = tuning.log.partsTogether
      for start in stride(from: 0, to: positions.count, by: most) {
        let part = positions[start..<min(start + most, positions.count)]
        for row in try await reader.get(part.map(keys.log)) {
          for change in try row.map({ try LogRow($0) })?.changes ?? [] where change.pathKey.collectionPrefix == inside {
            if let pathKeys, !pathKeys.contains(change.pathKey) { continue }
            if try visit(change) == .stop { return .stop }
          }
        }
      }
      if count == 0 { return .next }
    }
    return .next
  }

  /// Returns the prefix of a collection's path keys, from the key prefix of its changes.
  private static func pathKeyPrefix(_ key: [UInt8]) throws -> [UInt8] {
    var decoder = KeyDecoder(key)
    let id = try decoder.string()
    var group = KeyEncoder()
    group.append(string: id)
    return Array(key.dropFirst(group.bytes.count))
  }

  /// Returns the key prefixes of the changes of a group's collections; each costs a row.
  private func collections(ofGroup collectionID: CollectionID) async throws -> [[UInt8]] {
    let group = keys.changes(ofGroup: collectionID)
    var found: [[UInt8]] = []
    var range = KeyRange(prefix: group)
    while true {
      guard let key = try await reader.firstKey(in: range) else { return found }
      let end = PathKey.collectionPrefix(in: key[group.count...]).endIndex
      let collection = Array(key[..<end])
      found.append(collection)
      guard let next = KeyRange(prefix: collection).upper else { return found }
      range = KeyRange(from: next, to: range.upper)
    }
  }
}
