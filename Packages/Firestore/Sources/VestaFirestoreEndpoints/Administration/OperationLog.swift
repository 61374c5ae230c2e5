import VestaBytes
import VestaConcurrency
import VestaFirestoreWire
import VestaServiceInterop

/// The operations of this server, the latest of each project.
///
/// Work is done when its call returns, so operations only say what was done; they are in memory.
final class OperationLog: Sendable {
  /// An operation with its number; later ones have larger numbers.
  struct Entry: Sendable {
    let number: Int64
    let operation: AdminOperation
  }

  private struct State {
    var lastNumber: Int64 = 0
    var entries: [String: [Entry]] = [:]
  }

  private let limit: Int
  private let state = Locked(State())

  /// - Parameter limit: The number of operations of one project that are kept.
  init(limit: Int) { self.limit = limit }

  /// Keeps an operation.
  func add(_ operation: AdminOperation, project: String) {
    state.withLock { state in
      state.lastNumber += 1
      state.entries[project, default: []].append(Entry(number: state.lastNumber, operation: operation))
      if state.entries[project, default: []].count > limit { state.entries[project]?.removeFirst() }
    }
  }

  /// The operations of a database, the latest first.
  func operations(of database: String, project: String) -> [Entry] {
    let all = state.withLock { $0.entries[project] ?? [] }
    return all.reversed().filter { $0.operation.name.utf8.starts(with: "\(database)/operations/".utf8) }
  }

  /// An operation.
  ///
  /// - Throws: `NOT_FOUND`.
  func operation(_ name: String, project: String) throws(ServiceStatus) -> AdminOperation {
    guard let found = state.withLock({ $0.entries[project]?.first { $0.operation.name == name } }) else {
      throw ServiceStatus(.notFound, "There is no operation \(name.prefix(200)).")
    }
    return found.operation
  }

  /// Removes an operation.
  ///
  /// - Throws: `NOT_FOUND`.
  func remove(_ name: String, project: String) throws(ServiceStatus) {
    _ = try operation(name, project: project)
    state.withLock { $0.entries[project, default: []].removeAll { $0.operation.name == name } }
  }
}

extension PageRequest {
  /// The page of operations, the latest first, that the request asks for.
  ///
  /// - Throws: As ``page(of:name:)``.
  func page(of all: [OperationLog.Entry]) throws(ServiceStatus) -> Page<AdminOperation> {
    try page(of: all) { entry in
      PageToken(number: entry.number, of: scope)
    } isAfter: { entry, token throws(BytesError) in
      entry.number < (try token.number())
    }.map(\.operation)
  }

  /// The page of resources, in the order of their names, that the request asks for.
  ///
  /// The resource at which the page before has ended need not exist.
  ///
  /// - Throws: `INVALID_ARGUMENT` for a token of another request, and for a negative size.
  func page<Item>(of all: [Item], name: (Item) -> String) throws(ServiceStatus) -> Page<Item> {
    try page(of: all) { item in
      PageToken(position: Array(name(item).utf8), of: scope)
    } isAfter: { item, token throws(BytesError) in
      UTF8Order.compare(bytes: Array(name(item).utf8), token.position) > 0
    }
  }

  private var scope: [UInt8] { Array("\(parent) \(filter)".utf8) }

  private func page<Item>(
    of all: [Item], token: (Item) -> PageToken, isAfter: (Item, PageToken) throws(BytesError) -> Bool
  ) throws(ServiceStatus) -> Page<Item> {
    guard pageSize >= 0 else { throw ServiceStatus(.invalidArgument, "The page size is negative.") }
    var rest = all
    if !pageToken.isEmpty {
      do {
        let last = try PageToken(pageToken, of: scope)
        rest = try all.filter { try isAfter($0, last) }
      } catch { throw ServiceStatus(.invalidArgument, "The page token is not of this request.") }
    }
    let items = pageSize == 0 ? rest[...] : rest.prefix(Int(pageSize))
    guard let last = items.last, items.count < rest.count else { return Page(Array(items)) }
    return Page(Array(items), nextPageToken: token(last).text)
  }
}
