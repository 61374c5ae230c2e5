/// A response of a listen call.
///
/// For a target: `.add`; the documents that match; `.current`. After every commit that concerns a target of the call:
/// one message for each document, for all its targets together. A global snapshot follows each of both: a target
/// change `.noChange` without target identifiers and with a read time. It says that everything before it is one
/// consistent state of all targets; read times only grow. A commit is never split between two snapshots.
public enum ListenResponse: Sendable, Hashable {
  /// Something has become of targets.
  case targetChange(TargetChange)
  /// A document is new in targets, has changed, or no longer matches though it is there.
  case documentChange(DocumentChange)
  /// A document has been deleted.
  case documentDelete(DocumentDelete)
  /// A document no longer matches, and its content is not sent.
  case documentRemove(DocumentRemove)
  /// The number of documents that match a target, so that the caller can see whether it has too many.
  case filter(ExistenceFilter)
}

/// A change of the state of targets.
public struct TargetChange: Sendable, Hashable {
  /// The kind of a change.
  public enum Kind: Sendable, Hashable {
    /// Nothing; with no target identifiers and a read time this is a global snapshot.
    case noChange
    /// They are listened to.
    case add
    /// They are no longer listened to, because it was asked for or for the `cause`.
    case remove
    /// Everything that matched when they were added has been sent.
    case current
    /// The documents that the caller has of the targets must be dropped: all are sent again.
    case reset
  }

  /// The kind of change.
  public var kind: Kind

  /// The targets; empty for all of the call.
  public var targetIDs: [Int32]

  /// Why they were removed; `nil` when the caller asked for it.
  public var cause: FirestoreServiceError?

  /// The token with which these targets can be resumed; opaque, and valid after a restart of the backend.
  ///
  /// Empty when nothing has changed.
  public var resumeToken: [UInt8]

  /// The read time up to which everything has been sent; `nil` where the message says nothing about it.
  public var readTime: Timestamp?

  /// A change of targets.
  public init(
    _ kind: Kind,
    targetIDs: [Int32] = [],
    cause: FirestoreServiceError? = nil,
    resumeToken: [UInt8] = [],
    readTime: Timestamp? = nil
  ) {
    self.kind = kind
    self.targetIDs = targetIDs
    self.cause = cause
    self.resumeToken = resumeToken
    self.readTime = readTime
  }
}

/// A document with its content, and the targets it is in and no longer in.
public struct DocumentChange: Sendable, Hashable {
  /// The document, with all its fields and times.
  public var document: Document

  /// The targets that it matches now.
  public var targetIDs: [Int32]

  /// The targets that it no longer matches.
  public var removedTargetIDs: [Int32]

  /// A changed document.
  public init(document: Document, targetIDs: [Int32], removedTargetIDs: [Int32] = []) {
    self.document = document
    self.targetIDs = targetIDs
    self.removedTargetIDs = removedTargetIDs
  }
}

/// A document that has been deleted.
public struct DocumentDelete: Sendable, Hashable {
  /// Its full name.
  public var document: String

  /// The targets that it was in.
  public var removedTargetIDs: [Int32]

  /// A read time at which it did not exist, later than its last change.
  public var readTime: Timestamp?

  /// A deleted document.
  public init(document: String, removedTargetIDs: [Int32], readTime: Timestamp?) {
    self.document = document
    self.removedTargetIDs = removedTargetIDs
    self.readTime = readTime
  }
}

/// A document that has left targets, for a reason that is not given.
public struct DocumentRemove: Sendable, Hashable {
  /// Its full name.
  public var document: String

  /// The targets that it was in.
  public var removedTargetIDs: [Int32]

  /// A read time at which it was not in them.
  public var readTime: Timestamp?

  /// A document that has left targets.
  public init(document: String, removedTargetIDs: [Int32], readTime: Timestamp?) {
    self.document = document
    self.removedTargetIDs = removedTargetIDs
    self.readTime = readTime
  }
}

/// The number of documents that match a target.
public struct ExistenceFilter: Sendable, Hashable {
  /// The target.
  public var targetID: Int32

  /// The number of documents that match it; 0 or 1 for a target of one document.
  public var count: Int32

  /// The names of the documents that have not changed since the caller resumed; only where it gave an expected count.
  public var unchangedNames: BloomFilterMessage?

  /// A count of the documents of a target.
  public init(targetID: Int32, count: Int32, unchangedNames: BloomFilterMessage? = nil) {
    self.targetID = targetID
    self.count = count
    self.unchangedNames = unchangedNames
  }
}

/// A set of names, so packed that it never denies a name that is in it, and rarely affirms another one.
///
/// The key is a full document name in UTF-8. With `h1` and `h2` the halves of its MD5 digest as little-endian numbers,
/// the bits `(h1 + i * h2) mod 2^64 mod bitCount` for `i` in `0..<hashCount` are set; bit `n` is
/// `bitmap[n / 8] & (1 << (n % 8))`, and the bit count is that of the bitmap without the padding.
public struct BloomFilterMessage: Sendable, Hashable {
  /// The bits.
  public var bitmap: [UInt8]

  /// The number of unused bits of the last byte, from 0 to 7; 0 without a bitmap.
  public var padding: Int32

  /// The number of bits that are set for each name; above 0 unless the bitmap is empty.
  public var hashCount: Int32

  /// A filter as the wire has it; nothing is checked.
  public init(bitmap: [UInt8], padding: Int32, hashCount: Int32) {
    self.bitmap = bitmap
    self.padding = padding
    self.hashCount = hashCount
  }
}
