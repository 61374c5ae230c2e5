import VestaConcurrency
import VestaFirestoreBackend
import VestaRules
import VestaServiceInterop

/// The part of a document store that rules of other services look into.
protocol FirestoreReading: Sendable {
  /// Reads a document at a version; `nil` for now.
  ///
  /// - Returns: The document, and the version that was read.
  nonisolated(nonsending) func document(
    _ name: String, in database: String, at version: Timestamp?
  ) async throws -> (document: Document?, version: Timestamp?)
}

/// Reads from a backend, as an owner.
struct BackendReading: FirestoreReading {
  let backend: any FirestoreBackend
  let context: CallContext

  nonisolated(nonsending) func document(
    _ name: String, in database: String, at version: Timestamp?
  ) async throws -> (document: Document?, version: Timestamp?) {
    let request = BatchGetDocumentsRequest(
      database: database, documents: [name], consistency: version.map { .readTime($0) } ?? .latest)
    let found = Locked<(document: Document?, version: Timestamp?)>((nil, nil))
    try await backend.batchGet(request, context: context) { response in
      found.withLock { found in
        found.version = found.version ?? response.readTime
        if case .found(let document)? = response.result { found.document = document }
      }
    }
    return found.withLock { $0 }
  }
}

/// Documents of a project that rules of Storage look up.
struct FirestoreLookups: Sendable {
  let source: any FirestoreReading
  let project: String

  /// Documents at the version of the first one that is read.
  func oneVersion() -> OneVersion { OneVersion(self) }

  final class OneVersion: Sendable {
    private let lookups: FirestoreLookups
    private let version = Locked<Timestamp?>(nil)

    init(_ lookups: FirestoreLookups) { self.lookups = lookups }

    nonisolated(nonsending) func document(at path: RulesPath) async throws -> RulesLookup {
      // Rules of Storage see the default database only.
      guard path.segments.count > 1, path.segments[1] == "(default)",
        let name = path.resourceName(in: lookups.project)
      else { return .unavailable }
      let found = try await lookups.source.document(
        name, in: "projects/\(lookups.project)/databases/(default)", at: version.withLock { $0 })
      version.withLock { $0 = $0 ?? found.version }
      return found.document.map { .found(.document(at: path, data: RulesMap($0.fields))) } ?? .missing
    }
  }
}
