public import VestaDatabaseBackend

/// The part of a node that a query shows.
public enum NodeWindow {
  /// The children that the query wants; the whole node where it wants all of them.
  ///
  /// - Parameters:
  ///   - node: All the data.
  ///   - spec: The query.
  public static func window(of node: DatabaseNode, _ spec: DatabaseQuerySpec) -> DatabaseNode {
    spec.loadsAllData ? node : NodeFilter(spec: spec).window(of: node)
  }
}
