import VestaBytes
import VestaFiles
public import VestaRules
public import VestaServiceInterop

/// Where the rules of one service are from.
public enum RulesSource: Sendable, Hashable {
  /// The rules themselves.
  case text(String)
  /// The path of a file, read when the rules are first needed and at each `ProjectRules.reload()`.
  case file(String)

  /// The rules.
  ///
  /// - Throws: `RulesetError` for a file that is absent, cannot be read, or is not UTF-8.
  public func text() throws(RulesetError) -> String {
    switch self {
    case .text(let text): return text
    case .file(let path):
      let bytes: [UInt8]?
      do throws(FileFailure) {
        bytes = try DurableFile.read(path)
      } catch {
        throw RulesetError(path, error.description)
      }
      guard let bytes else { throw RulesetError(path, "There is no such file.") }
      guard let text = String(validating: bytes, as: UTF8.self) else { throw RulesetError(path, "It is not UTF-8.") }
      return text
    }
  }
}

extension RulesetError {
  /// The error of a file that cannot be read.
  fileprivate init(_ path: String, _ cause: String) {
    self.init([RulesIssue(.error, "The rules file \(path) cannot be read: \(cause)", at: nil)])
  }
}

/// Where the rules of a project are from; a program registers a component that provides them.
///
/// ```swift
/// enum NotesRules: Library {
///   static let name = "notes-rules"
///   static func components() -> [Component] {
///     [
///       Component(RulesSources.self, caching: .shared) { _ in
///         RulesSources(firestore: .file("firestore.rules"), storage: .file("storage.rules"))
///       }
///     ]
///   }
/// }
/// try VestaApp.configure(libraries: [RulesLibrary.self, NotesRules.self, …])
/// ```
public struct RulesSources: Sendable, Hashable {
  /// The rules of Firestore; without any everything is denied, and in a replacement nothing changes.
  public var firestore: RulesSource?
  /// The rules of Storage.
  public var storage: RulesSource?
  /// The rules of the Realtime Database.
  public var database: RulesSource?

  /// The rules of single databases of Firestore, buckets and databases of the tree, by product and name.
  ///
  /// All others have the rules above. Which databases have separate rules does not change; the rules can be replaced.
  public var named: [RuledProduct: [String: RulesSource]]

  /// Sources.
  public init(
    firestore: RulesSource? = nil, storage: RulesSource? = nil, database: RulesSource? = nil,
    named: [RuledProduct: [String: RulesSource]] = [:]
  ) {
    self.named = named
    self.firestore = firestore
    self.storage = storage
    self.database = database
  }
}

/// The errors of the rules of a project, by the services that they are for.
public struct ProjectRulesError: Error, Sendable, CustomStringConvertible {
  /// The errors of the rules of Firestore.
  public var firestore: RulesetError?
  /// The errors of the rules of Storage.
  public var storage: RulesetError?
  /// The errors of the rules of the Realtime Database.
  public var database: RulesetError?

  /// The issues of all services, a line each, headed by the service.
  public var description: String {
    [("Firestore", firestore), ("Storage", storage), ("the Realtime Database", database)].compactMap { name, error in
      error.map { "The rules of \(name) cannot be used:\n\($0.description)" }
    }.joined(separator: "\n")
  }
}
