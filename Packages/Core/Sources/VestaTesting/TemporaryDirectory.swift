public import Foundation

/// A directory that is removed with its owner.
///
/// ```swift
/// let directory = try TemporaryDirectory()
/// let store = try await provider.openStore(named: "test", in: directory.path, options: StoreOptions())
/// ```
public final class TemporaryDirectory: Sendable {
  /// The path of the directory.
  public let path: String

  /// Creates a directory with a unique name.
  ///
  /// - Parameter label: The beginning of its name.
  public init(_ label: String = "vesta") throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("\(label)-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of a file or directory inside.
  public func path(of name: String) -> String { "\(path)/\(name)" }

  /// The names of everything inside, at any depth, sorted.
  public var names: [String] { ((try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []).sorted() }

  /// The bytes of a file inside.
  public func bytes(of name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(of: name))))
  }

  /// Writes a file inside.
  public func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path(of: name)))
  }
}

/// Runs a body with a directory that is removed when the body has returned.
public func withTemporaryDirectory<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
  let directory = try TemporaryDirectory()
  defer { withExtendedLifetime(directory) {} }
  return try await body(URL(fileURLWithPath: directory.path, isDirectory: true))
}
