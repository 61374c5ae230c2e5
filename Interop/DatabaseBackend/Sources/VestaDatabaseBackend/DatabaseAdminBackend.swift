public import VestaServiceInterop

/// The administration of the databases of a project: which there are, their rules, and their content as a whole.
///
/// Promises of every implementation:
/// - All calls are for owners: of another caller they are `PERMISSION_DENIED`, and nothing has happened.
/// - An export is of one version: it has every write that was answered before its call, and none in part.
/// - An import replaces what there is. Listeners are notified, functions are not. One that fails leaves what it has
///   written so far: it is done again.
/// - An import takes the parts of an export: the database is the same afterwards, priorities included.
public protocol DatabaseAdminBackend: Sendable {
  /// The databases that have data, in the order of their names.
  func databases(context: CallContext) async throws(DatabaseServiceError) -> [String]

  /// The text of the rules in force for a database; `nil` where none were set, or where the service has no rules.
  ///
  /// The databases of a project have the same rules, but for the ones that have separate rules.
  func rules(of namespace: String, context: CallContext) async throws(DatabaseServiceError) -> String?

  /// Compiles rules and changes nothing.
  ///
  /// - Parameters:
  ///   - source: The text of the rules.
  ///   - namespace: The database.
  ///   - context: The caller.
  /// - Returns: The warnings of the compiler.
  /// - Throws: What ``setRules(_:of:context:)`` would throw.
  func checkRules(
    _ source: String, of namespace: String, context: CallContext
  ) async throws(DatabaseServiceError) -> [RulesRemark]

  /// Puts rules in force, and builds the indexes that they declare.
  ///
  /// On the return requests are decided by the new rules, listens that they deny have ended or are about to, and the
  /// indexes are declared; a query is answered by an index when it is built, and without it until then.
  ///
  /// - Parameters:
  ///   - source: The text of the rules.
  ///   - namespace: The database.
  ///   - context: The caller.
  /// - Returns: The warnings of the compiler.
  /// - Throws: `INVALID_ARGUMENT` with everything that is wrong in rules that do not compile, which change nothing;
  ///   `UNIMPLEMENTED` where the service has no rules.
  func setRules(
    _ source: String, of namespace: String, context: CallContext
  ) async throws(DatabaseServiceError) -> [RulesRemark]

  /// Removes everything in a database.
  func clear(_ namespace: String, context: CallContext) async throws(DatabaseServiceError)

  /// Gives everything in a database, in parts.
  ///
  /// - Parameters:
  ///   - namespace: The database.
  ///   - context: The caller.
  ///   - receive: Takes the rows in the order of their paths; the export waits for it, and ends with what it throws.
  func export(
    _ namespace: String, context: CallContext,
    to receive: @escaping @Sendable ([DatabaseRow]) async throws -> Void
  ) async throws(DatabaseServiceError)

  /// Replaces everything in a database, in parts.
  ///
  /// - Parameters:
  ///   - namespace: The database.
  ///   - context: The caller.
  ///   - next: Gives the next rows, in the order of their paths; `nil` after the last ones.
  func `import`(
    _ namespace: String, context: CallContext, from next: @escaping @Sendable () async throws -> [DatabaseRow]?
  ) async throws(DatabaseServiceError)
}

/// A path of a database that has a value or a priority itself.
///
/// A path that has neither exists by the nodes below it. In the order of paths a path precedes the paths below it, and
/// siblings are in the order of their keys.
public struct DatabaseRow: Sendable, Hashable {
  /// The path.
  public var path: DatabasePath
  /// The value; `nil` for a place with children.
  public var leaf: DatabaseLeaf?
  /// The priority.
  public var priority: DatabaseLeaf?

  /// A row.
  public init(_ path: DatabasePath, _ leaf: DatabaseLeaf?, priority: DatabaseLeaf? = nil) {
    (self.path, self.leaf, self.priority) = (path, leaf, priority)
  }
}

extension DatabaseNode {
  /// The tree of rows, in whichever order they are.
  public init(rows: some Sequence<DatabaseRow>) {
    var node = DatabaseNode.empty
    var places: [DatabaseRow] = []
    for row in rows {
      if let leaf = row.leaf {
        node = node.setting(row.path, to: DatabaseNode(leaf, priority: row.priority))
      } else {
        places.append(row)
      }
    }
    // A path has a priority only where there is something below it.
    for place in places { node = node.setting(place.path, to: node[place.path].withPriority(place.priority)) }
    self = node
  }

  /// The rows of a tree, in the order of their paths.
  ///
  /// - Parameter path: The path of the tree.
  public func rows(at path: DatabasePath = .root) -> [DatabaseRow] {
    var rows: [DatabaseRow] = []
    func visit(_ node: DatabaseNode, _ path: DatabasePath) {
      if node.leaf != nil || node.priority != nil {
        rows.append(DatabaseRow(path, node.leaf, priority: node.priority))
      }
      node.forEachChild { key, child in visit(child, path.appending(DatabasePath([key]))) }
    }
    visit(self, path)
    return rows
  }
}
