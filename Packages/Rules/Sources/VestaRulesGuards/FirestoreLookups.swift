import VestaConcurrency
package import VestaFirestoreBackend
package import VestaRules
package import VestaServiceInterop

/// The part of a document store that rules of other services look into.
package protocol FirestoreReading: Sendable {
  /// Reads a document at a version; `nil` for now.
  ///
  /// - Parameters:
  ///   - name: The full name of the document.
  ///   - database: The full name of its database.
  ///   - version: The version; `nil` for now.
  ///   - deadline: The time after which no caller waits for it, in microseconds since 1970.
  /// - Returns: The document, and the version that was read.
  nonisolated(nonsending) func document(
    _ name: String, in database: String, at version: Timestamp?, until deadline: Int64?
  ) async throws -> (document: Document?, version: Timestamp?)
}

/// Reads from a backend, as an owner.
package struct BackendReading: FirestoreReading {
  let backend: any FirestoreBackend
  let context: CallContext

  package init(backend: any FirestoreBackend, context: CallContext) {
    (self.backend, self.context) = (backend, context)
  }

  package nonisolated(nonsending) func document(
    _ name: String, in database: String, at version: Timestamp?, until deadline: Int64?
  ) async throws -> (document: Document?, version: Timestamp?) {
    var context = context
    context.deadline = deadline ?? context.deadline
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
package struct FirestoreLookups: Sendable {
  let source: any FirestoreReading
  let project: String

  package init(source: any FirestoreReading, project: String) { (self.source, self.project) = (source, project) }

  /// Documents at the version of the first one that is read.
  package func oneVersion(until deadline: Int64? = nil) -> OneVersion { OneVersion(self, deadline) }

  package final class OneVersion: Sendable {
    private let lookups: FirestoreLookups
    private let deadline: Int64?
    private let version = Locked<Timestamp?>(nil)

    init(_ lookups: FirestoreLookups, _ deadline: Int64?) { (self.lookups, self.deadline) = (lookups, deadline) }

    package nonisolated(nonsending) func document(at path: RulesPath) async throws -> RulesLookup {
      // Rules of Storage see the default database only.
      guard path.segments.count > 1, path.segments[1] == "(default)",
        let name = path.resourceName(in: lookups.project)
      else { return .unavailable }
      let found: (document: Document?, version: Timestamp?)
      do {
        found = try await lookups.source.document(
          name, in: "projects/\(lookups.project)/databases/(default)", at: version.withLock { $0 }, until: deadline)
      } catch let error as FirestoreServiceError where error.code == .invalidArgument {
        // A name that no document can have: the lookup failed, and another operand may make up for it.
        return .unavailable
      }
      version.withLock { $0 = $0 ?? found.version }
      return found.document.map { .found(RulesMap(DocumentFields($0, at: path))) } ?? .missing
    }
  }
}
