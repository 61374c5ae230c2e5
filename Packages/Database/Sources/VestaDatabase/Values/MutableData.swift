public import Foundation
import VestaDatabaseBackend
import VestaDatabaseModel

/// The data of a transaction, for its block to read and change.
///
/// Children are views on the same data. It belongs to the block: it is not valid elsewhere.
public final class MutableData {
  private final class Root {
    var node: DatabaseNode
    var problem: InvalidValue?

    init(_ node: DatabaseNode) { self.node = node }
  }

  private let root: Root
  private let base: DatabasePath
  private let path: DatabasePath

  init(_ node: DatabaseNode, at base: DatabasePath) {
    root = Root(node)
    self.base = base
    path = .root
  }

  private init(_ root: Root, _ base: DatabasePath, _ path: DatabasePath) {
    self.root = root
    self.base = base
    self.path = path
  }

  /// The result of a block, or why what it has set cannot be stored.
  func result() throws(InvalidValue) -> DatabaseNode {
    if let problem = root.problem { throw problem }
    return root.node[path]
  }

  /// Whether there are children.
  public func hasChildren() -> Bool { root.node[path].childCount > 0 }

  /// Whether there is anything at a path below.
  public func hasChild(atPath path: String) -> Bool { !root.node[self.path.appending(DatabasePath(path))].isEmpty }

  /// The data at a path below.
  public func childData(byAppendingPath path: String) -> MutableData {
    MutableData(root, base, self.path.appending(DatabasePath(path)))
  }

  /// The value; `NSNull` where nothing is.
  ///
  /// Setting replaces the children and the priority. Of children whose keys Swift takes for one (`é` as one or two
  /// scalars) a dictionary has the first; the others stay as long as the new value has the key.
  ///
  /// A value that cannot be stored makes the transaction fail.
  public var value: Any? {
    get { root.node[path].plainValue }
    set {
      let old = root.node[path]
      set { (importer) throws(InvalidValue) in try importer.node(newValue).keepingTwins(of: old) }
    }
  }

  /// The priority; `nil` for none.
  ///
  /// Setting it where nothing is does nothing.
  public var priority: Any? {
    get { root.node[path].priority?.plainValue }
    set {
      let old = root.node[path]
      set { (importer) throws(InvalidValue) in old.withPriority(try importer.priority(newValue)) }
    }
  }

  private func set(_ make: (NodeImport) throws(InvalidValue) -> DatabaseNode) {
    do throws(InvalidValue) {
      let node = try make(NodeImport(at: base.appending(path)))
      root.node = root.node.setting(path, to: node)
    } catch {
      root.problem = root.problem ?? error
    }
  }

  /// How many children there are.
  public var childrenCount: UInt { UInt(root.node[path].childCount) }

  /// The children, each a `MutableData`, in the order of their priorities.
  public var children: NSEnumerator {
    var children: [MutableData] = []
    IndexedNode(root.node[path], index: .priority).visitChildren { key, _ in
      children.append(MutableData(root, base, path.child(key)))
      return true
    }
    return NSArray(array: children).objectEnumerator()
  }

  /// The key of this path; `nil` for that of the root.
  public var key: String? { base.appending(path).back?.text }
}

/// The decision of a transaction's block.
public final class TransactionResult: Sendable {
  let outcome: Result<DatabaseNode, InvalidValue>?

  private init(_ outcome: Result<DatabaseNode, InvalidValue>?) { self.outcome = outcome }

  /// The data is to be written.
  public class func success(withValue value: MutableData) -> TransactionResult {
    do throws(InvalidValue) {
      return TransactionResult(.success(try value.result()))
    } catch {
      return TransactionResult(.failure(error))
    }
  }

  /// Nothing is to be written.
  public class func abort() -> TransactionResult { TransactionResult(nil) }
}
