package import VestaFirestoreBackend

/// A target as a client keeps it: how far it has followed the target, and what it was for.
package struct TargetRecord: Sendable, Hashable {
  /// The reason for the target.
  package enum Purpose: UInt8, Sendable, Hashable {
    /// A user listens.
    case listen = 0
    /// The count of the service and the client's differed.
    case existenceFilterMismatch = 1
    /// They differed even after the bloom filter.
    case existenceFilterMismatchBloom = 2
    /// Whether a document that no target sends still exists.
    case limboResolution = 3
  }

  /// The target.
  package var target: QueryTarget
  /// Its identifier on the wire.
  package var id: Int32
  /// The reason for the target; not kept on disk.
  package var purpose: Purpose
  /// The sequence number of its last use, in the count of the cache's transactions.
  package var sequenceNumber: Int64
  /// Up to which version the target has been followed; `.zero` for none.
  package var snapshotVersion: Timestamp
  /// The last version at which no document of it was in limbo; `.zero` for none.
  package var lastLimboFreeVersion: Timestamp
  /// The token with which the service resumes it; empty for none.
  package var resumeToken: [UInt8]
  /// The number of documents that the client has of it, for the service to compare; not kept on disk.
  package var expectedCount: Int32?

  /// A target that has not been followed yet.
  package init(
    _ target: QueryTarget, id: Int32, purpose: Purpose = .listen, sequenceNumber: Int64 = 0,
    snapshotVersion: Timestamp = .zero, lastLimboFreeVersion: Timestamp = .zero, resumeToken: [UInt8] = [],
    expectedCount: Int32? = nil
  ) {
    self.target = target
    self.id = id
    self.purpose = purpose
    self.sequenceNumber = sequenceNumber
    self.snapshotVersion = snapshotVersion
    self.lastLimboFreeVersion = lastLimboFreeVersion
    self.resumeToken = resumeToken
    self.expectedCount = expectedCount
  }

  /// The record with a newer token; the expected count belonged to the older one.
  package func resuming(at token: [UInt8], version: Timestamp) -> TargetRecord {
    var record = self
    record.resumeToken = token
    record.snapshotVersion = version
    record.expectedCount = nil
    return record
  }

  /// The request to follow the target: by token, else by the version of a bundle, else from the start.
  package var message: Target {
    var resume: Target.Resume?
    if !resumeToken.isEmpty {
      resume = .token(resumeToken)
    } else if snapshotVersion > .zero {
      resume = .readTime(snapshotVersion)
    }
    return Target(id: id, target.subject, resume: resume, expectedCount: resume == nil ? nil : expectedCount)
  }
}

/// Identifiers of targets that never meet: even ones for the targets of users, odd ones for limbo resolutions.
package struct TargetIDs: Sendable, Hashable {
  private var highest: Int32

  /// Identifiers of users' targets, after the highest one that has ever been stored.
  package static func queries(after highest: Int32 = 0) -> TargetIDs { TargetIDs(highest: highest / 2 * 2) }

  /// Identifiers of limbo resolutions.
  package static var limbo: TargetIDs { TargetIDs(highest: -1) }

  /// The next identifier.
  package mutating func next() -> Int32 {
    highest += 2
    return highest
  }
}
