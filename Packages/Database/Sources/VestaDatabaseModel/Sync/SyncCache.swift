public import VestaDatabaseBackend

/// The server's data that a device keeps, and the queries that it belongs to.
///
/// A value that answers at once. Changes to store gather in ``takeChanges()``; the owner of the cache writes them
/// down.
public struct SyncCache: Sendable {
  /// A query of which data is kept.
  public struct TrackedQuery: Sendable, Hashable {
    /// Its number.
    public let id: Int
    /// Its path.
    public let path: DatabasePath
    /// Its parameters; the default ones for every query that loads all data.
    public let spec: DatabaseQuerySpec
    /// When it was last listened to, in milliseconds.
    public var lastUse: Int64
    /// Whether it has listeners.
    public var isActive: Bool
    /// Whether all of its data is kept.
    public var isComplete: Bool
    /// The children that a filtered query shows.
    public var keys: Set<DatabaseKey> = []

    /// A query.
    public init(
      id: Int, path: DatabasePath, spec: DatabaseQuerySpec, lastUse: Int64, isActive: Bool, isComplete: Bool,
      keys: Set<DatabaseKey> = []
    ) {
      self.id = id
      self.path = path
      self.spec = spec
      self.lastUse = lastUse
      self.isActive = isActive
      self.isComplete = isComplete
      self.keys = keys
    }
  }

  /// Something to be stored.
  public enum Change: Sendable {
    /// A node in the place of the one that was there.
    case node(DatabasePath, DatabaseNode)
    /// A query.
    case query(TrackedQuery)
    /// A query that is no longer kept.
    case dropQuery(Int)
  }

  /// The kept data.
  public private(set) var node: DatabaseNode
  /// The time, for what is dropped first.
  public var now: Int64 = 0
  private var tracked: [SyncTree.QueryKey: TrackedQuery] = [:]
  private var changes: [Change] = []
  private var nextID = 1
  private var updates = 0
  private let limit: Int
  private let updatesPerPruning: Int
  private let inactiveLimit: Int

  /// A cache as it was stored.
  ///
  /// - Parameters:
  ///   - node: The kept data.
  ///   - queries: The queries; none of them is active yet.
  ///   - limit: How much data may be kept, in estimated bytes.
  ///   - updates: After how many updates of the service the limits are applied.
  ///   - inactive: The largest number of queries without listeners.
  ///   - now: The time in milliseconds.
  public init(
    node: DatabaseNode = .empty, queries: [TrackedQuery] = [], limit: Int, updates: Int = 1000, inactive: Int = 1000,
    now: Int64
  ) {
    self.node = node
    self.limit = limit
    updatesPerPruning = updates
    inactiveLimit = inactive
    self.now = now
    for var query in queries {
      nextID = max(nextID, query.id + 1)
      if query.isActive {
        query.isActive = false
        query.lastUse = now
        changes.append(.query(query))
      }
      tracked[SyncTree.QueryKey(path: query.path, spec: query.spec)] = query
    }
  }

  /// Returns the changes that are to be stored since the last call, in order.
  public mutating func takeChanges() -> [Change] {
    defer { changes = [] }
    return changes
  }

  /// The queries of which data is kept.
  public var queries: [TrackedQuery] { tracked.values.sorted { $0.id < $1.id } }

  // MARK: Reading

  /// Returns the kept data of a query; `nil` when there is none.
  func serverData(_ path: DatabasePath, _ spec: DatabaseQuerySpec) -> ServerData? {
    if isComplete(path) { return ServerData(node: node[path], isComplete: true, isFiltered: false) }
    if !spec.loadsAllData, let query = tracked[key(path, spec)], query.isComplete {
      let kept = node[path]
      let shown = DatabaseNode(children: query.keys.map { ($0, kept[$0]) })
      return ServerData(node: shown, isComplete: true, isFiltered: true)
    }
    var known: [(DatabaseKey, DatabaseNode)] = []
    let kept = node[path]
    for query in tracked.values where query.path == path && query.isComplete {
      for key in query.keys { known.append((key, kept[key])) }
    }
    for query in tracked.values where query.isComplete && query.spec.isDefault {
      guard let relative = path.relative(query.path), relative.count == 1, let child = relative.front else { continue }
      known.append((child, kept[child]))
    }
    return ServerData(node: DatabaseNode(children: known), isComplete: false, isFiltered: false)
  }

  /// Returns the kept data of a path, complete or not, for reads while the service cannot be reached.
  public func nodeForRead(_ path: DatabasePath, _ spec: DatabaseQuerySpec) -> DatabaseNode {
    let data = serverData(path, spec)?.node ?? .empty
    return NodeFilter(spec: spec).filtersNodes ? NodeFilter(spec: spec).window(of: data) : data
  }

  private func isComplete(_ path: DatabasePath) -> Bool {
    var place: DatabasePath? = path
    while let current = place {
      if tracked[key(current, .all)]?.isComplete == true { return true }
      place = current.parent
    }
    return false
  }

  // MARK: Changes

  mutating func setActive(_ path: DatabasePath, _ spec: DatabaseQuerySpec, _ isActive: Bool) {
    let key = key(path, spec)
    var query =
      tracked[key]
      ?? TrackedQuery(id: nextID, path: path, spec: key.spec, lastUse: now, isActive: isActive, isComplete: false)
    if query.id == nextID { nextID += 1 }
    query.isActive = isActive
    query.lastUse = now
    store(query)
  }

  mutating func complete(_ path: DatabasePath, _ spec: DatabaseQuerySpec) {
    let key = key(path, spec)
    if var query = tracked[key], !query.isComplete {
      query.isComplete = true
      store(query)
    }
    guard key.spec.isDefault else { return }
    for var query in tracked.values where path.contains(query.path) && !query.isComplete {
      query.isComplete = true
      store(query)
    }
  }

  mutating func setKeys(_ path: DatabasePath, _ spec: DatabaseQuerySpec, _ node: DatabaseNode) {
    guard var query = tracked[key(path, spec)] else { return }
    var keys: Set<DatabaseKey> = []
    node.forEachChild { key, _ in keys.insert(key) }
    guard query.keys != keys else { return }
    query.keys = keys
    store(query)
  }

  mutating func updateKeys(_ path: DatabasePath, _ spec: DatabaseQuerySpec, _ childChanges: [ChildChange]) {
    guard var query = tracked[key(path, spec)] else { return }
    let before = query.keys
    for change in childChanges {
      if change.kind == .removed { query.keys.remove(change.key) } else { query.keys.insert(change.key) }
    }
    if query.keys != before { store(query) }
  }

  /// Keeps what the service has sent.
  mutating func apply(
    _ kind: SyncOperation.Kind, at path: DatabasePath, spec: DatabaseQuerySpec?, queryPath: DatabasePath
  ) {
    switch kind {
    case .overwrite(let new):
      if let spec, !spec.loadsAllData, path == queryPath {
        new.forEachChild { store(path.child($0), $1) }
      } else {
        store(path, new)
      }
      if path == queryPath { complete(path, spec ?? .all) }
    case .merge(let trie): trie.forEach(at: path) { store($0, $1) }
    case .acknowledge, .listenComplete: break
    }
    updates += 1
    if updates > updatesPerPruning { prune() }
  }

  /// Keeps what an acknowledged write has written, where no listener will be sent it.
  ///
  /// - Parameter isForListeners: Whether it is kept also where there are listeners, because they have no connection.
  mutating func applyAcknowledged(_ record: WriteTree.Record, isForListeners: Bool) {
    let isListened = tracked.values.contains { $0.isActive && $0.spec.isDefault && $0.path.contains(record.path) }
    guard isForListeners || !isListened else { return }
    switch record.change {
    case .overwrite(let new):
      store(record.path, new)
      markWritten(record.path)
    case .merge(let trie):
      trie.forEach(at: record.path) { path, new in
        store(path, new)
        markWritten(path)
      }
    }
    updates += 1
    if updates > updatesPerPruning { prune() }
  }

  private mutating func markWritten(_ path: DatabasePath) {
    guard !isComplete(path), path.back?.isPriority != true else { return }
    if tracked[key(path, .all)]?.isActive != true { setActive(path, .all, false) }
    complete(path, .all)
  }

  private mutating func store(_ path: DatabasePath, _ new: DatabaseNode) {
    guard node[path] != new else { return }
    // Where nothing is, there is no priority either.
    if path.back?.isPriority == true, node[path.parent ?? .root].isEmpty { return }
    node = node.setting(path, to: new)
    changes.append(.node(path, new))
  }

  private mutating func store(_ query: TrackedQuery) {
    tracked[key(query.path, query.spec)] = query
    changes.append(.query(query))
  }

  private func key(_ path: DatabasePath, _ spec: DatabaseQuerySpec) -> SyncTree.QueryKey {
    SyncTree.QueryKey(path: path, spec: spec.loadsAllData ? .all : spec)
  }

  // MARK: Dropping

  /// Drops the data of the least recently used queries, until the limit is kept.
  public mutating func prune() {
    updates = 0
    while true {
      let inactive = tracked.values.filter { !$0.isActive }.sorted { ($0.lastUse, $0.id) < ($1.lastUse, $1.id) }
      guard !inactive.isEmpty, NodeSize.estimate(node) > limit || inactive.count > inactiveLimit else { return }
      let count = max((inactive.count + 4) / 5, inactive.count - inactiveLimit)
      for query in inactive.prefix(count) {
        tracked[key(query.path, query.spec)] = nil
        changes.append(.dropQuery(query.id))
      }
      dropUntracked()
    }
  }

  /// Keeps what the remaining queries show.
  private mutating func dropUntracked() {
    var kept = DatabaseNode.empty
    for query in tracked.values {
      if query.spec.isDefault {
        kept = kept.setting(query.path, to: node[query.path])
      } else {
        for key in query.keys { kept = kept.setting(query.path.child(key), to: node[query.path.child(key)]) }
      }
    }
    guard kept != node else { return }
    node = kept
    changes.append(.node(.root, kept))
  }
}
