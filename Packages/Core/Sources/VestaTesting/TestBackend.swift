import Foundation

/// How tests of a client reach the engine of its product: directly, or over the wire.
///
/// `VESTA_BACKEND=wire make test PACKAGE=StorageIntegration` runs the tests of a client over the wire. Their support
/// file reads ``current`` in the one place that makes their app, and nothing else depends on it:
///
/// ```swift
/// let app = try VestaApp.configure(name: name, options: options, libraries: libraries)
/// if TestBackend.current == .wire {
///   app.container.override((any NotesBackend).self, with: try NotesRemote(to: engine))
/// }
/// ```
public enum TestBackend: Sendable, Hashable, CaseIterable {
  /// The client calls the engine.
  case embedded

  /// The client calls the remote backend, which calls the endpoints in front of the engine.
  case wire

  /// The choice of the environment: `wire` for `VESTA_BACKEND=wire`, and ``embedded`` for everything else.
  public static let current = TestBackend(environment: ProcessInfo.processInfo.environment)

  /// The choice of an environment.
  ///
  /// - Parameter environment: The variables; `VESTA_BACKEND` may also hold an address, which programs read.
  public init(environment: [String: String]) {
    self = environment["VESTA_BACKEND"] == "wire" ? .wire : .embedded
  }
}
