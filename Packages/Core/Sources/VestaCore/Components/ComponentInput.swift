/// A value that a program provides as a component for one library, and that has no effect without it, such as rules.
///
/// `VestaApp.configure` refuses a list that provides the value and has no library that depends on it:
///
/// ```swift
/// extension RulesSources: ComponentInput {
///   public static var readBy: String { "RulesLibrary of VestaRulesGuards (Packages/Rules)" }
/// }
/// ```
public protocol ComponentInput {
  /// The library that reads the value, written as for ``Dependency/required(_:providedBy:)``.
  static var readBy: String { get }
}

extension ComponentGraph {
  /// A value that is provided and not read.
  struct UnreadInput {
    /// The library that provides the value.
    let library: String
    let name: String
    let readBy: String

    var sentence: String {
      """
      \(library) provides \(name), which no library in the list reads, so it would have no effect. \
      Name \(readBy) in the list, or remove the component.
      """
    }
  }

  /// The values among the components that neither these nor the libraries of other backends read.
  static func unreadInputs(among nodes: [Node], readByOthers: Set<ObjectIdentifier>) -> [UnreadInput] {
    let inputs = nodes.compactMap { node in
      (node.component.type as? any ComponentInput.Type).map { (node, $0) }
    }
    guard !inputs.isEmpty else { return [] }
    let read = readByOthers.union(nodes.flatMap { $0.component.dependencies.map(\.key) })
    return inputs.filter { !read.contains($0.0.component.key) }.map { node, input in
      UnreadInput(library: node.library, name: node.name, readBy: input.readBy)
    }
  }
}
