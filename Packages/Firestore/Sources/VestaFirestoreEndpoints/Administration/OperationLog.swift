import VestaConcurrency
import VestaFirestoreWire
import VestaServiceInterop

/// The operations of this server, the latest of each project.
///
/// Work is done when its call returns, so operations only say what was done; they are in memory.
final class OperationLog: Sendable {
  private let limit: Int
  private let operations = Locked<[String: [AdminOperation]]>([:])

  /// - Parameter limit: The number of operations of one project that are kept.
  init(limit: Int) { self.limit = limit }

  /// Keeps an operation.
  func add(_ operation: AdminOperation, project: String) {
    operations.withLock { all in
      all[project, default: []].append(operation)
      if all[project, default: []].count > limit { all[project]?.removeFirst() }
    }
  }

  /// The operations of a database, the latest first.
  func operations(of database: String, project: String) -> [AdminOperation] {
    let all = operations.withLock { $0[project] ?? [] }
    return all.reversed().filter { $0.name.utf8.starts(with: "\(database)/operations/".utf8) }
  }

  /// An operation.
  ///
  /// - Throws: `NOT_FOUND`.
  func operation(_ name: String, project: String) throws(ServiceStatus) -> AdminOperation {
    guard let found = operations.withLock({ $0[project]?.first { $0.name == name } }) else {
      throw ServiceStatus(.notFound, "There is no operation \(name.prefix(200)).")
    }
    return found
  }

  /// Removes an operation.
  ///
  /// - Throws: `NOT_FOUND`.
  func remove(_ name: String, project: String) throws(ServiceStatus) {
    _ = try operation(name, project: project)
    operations.withLock { all in all[project, default: []].removeAll { $0.name == name } }
  }
}

extension PageRequest {
  /// The page of all resources that the request asks for.
  ///
  /// - Throws: `INVALID_ARGUMENT` for a token of another request, and for a negative size.
  func page<Item>(of all: [Item], name: (Item) -> String) throws(ServiceStatus) -> Page<Item> {
    guard pageSize >= 0 else { throw ServiceStatus(.invalidArgument, "The page size is negative.") }
    let request = Array("\(parent) \(filter)".utf8)
    var rest = all[...]
    if !pageToken.isEmpty {
      guard let last = try? PageToken(pageToken, of: request),
        let place = all.firstIndex(where: { name($0).utf8.elementsEqual(last.position) })
      else { throw ServiceStatus(.invalidArgument, "The page token is not of this request.") }
      rest = all[(place + 1)...]
    }
    let items = pageSize == 0 ? rest : rest.prefix(Int(pageSize))
    guard let last = items.last, items.count < rest.count else { return Page(Array(items)) }
    return Page(Array(items), nextPageToken: PageToken(position: Array(name(last).utf8), of: request).text)
  }
}
