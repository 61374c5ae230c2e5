/// Where an embedded engine lives: the directory of its project, and the apps of this process that share the engine.
public struct EngineHome: Sendable {
  private let project: Project
  private let names: [String]

  init(_ project: Project, names: [String]) { (self.project, self.names) = (project, names) }

  /// The path of the directory, without a slash at the end.
  ///
  /// Open nothing in it before ``ready()`` has returned.
  public var path: String { project.layout.enginesPath }

  /// Waits until no other engine of this process has the directory open.
  ///
  /// ```swift
  /// AuthEngine { try await stores.openStore(named: "auth", in: home.ready(), options: StoreOptions()) }
  /// ```
  ///
  /// An app may be configured again while the app of before is being deleted: its engines wait here. Files that an
  /// earlier version has kept in the folder of an app is moved here, too.
  ///
  /// - Returns: ``path``.
  /// - Throws: `FileFailure` when data of an earlier version could not be moved; the next call tries again.
  public func ready() async throws -> String { try await project.ready(names) }

  /// The instances that the libraries of all apps of the project contribute to one protocol, each once.
  ///
  /// An engine may outlive the app that it was made for: it asks here, and not in that app's container.
  ///
  /// - Parameter type: The protocol, as in `(any EventSource).self`.
  public func resolveAll<Interface: Sendable>(_ type: Interface.Type) -> [Interface] {
    var seen: Set<ObjectIdentifier> = []
    return project.containers.flatMap { $0.resolveAll(type) }.filter {
      seen.insert(ObjectIdentifier($0 as AnyObject)).inserted
    }
  }
}
