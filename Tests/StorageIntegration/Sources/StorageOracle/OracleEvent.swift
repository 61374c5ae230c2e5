import Foundation

/// One line of the log of a history: the beginning of a call, or its answer.
public enum OracleEvent: Codable, Sendable {
  /// A call begins.
  case call(OracleCall)

  /// A call has been answered.
  case answer(OracleAnswer)

  /// A rule was broken that needs no history to be judged.
  case broken(String)

  /// The event as a line.
  public var line: String {
    (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "unencodable"
  }

  /// The event of a line.
  public init?(line: String) {
    guard let event = try? JSONDecoder().decode(OracleEvent.self, from: Data(line.utf8)) else { return nil }
    self = event
  }
}

/// A call that is about one object.
public struct OracleCall: Codable, Sendable {
  /// The kinds of calls.
  public enum Kind: String, Codable, Sendable {
    /// An upload.
    case put
    /// A download.
    case get
    /// A download to a file that outlives the process.
    case write
    /// `getMetadata`, and one row of a listing.
    case look
    /// `updateMetadata`.
    case change
    /// `delete`.
    case delete
  }

  /// The number of the call.
  public var id: Int

  /// The path of the object.
  public var name: String

  /// The kind of the call.
  public var kind: Kind

  /// The contents that an upload may leave: more than one where its file changes during it.
  public var contents: [OracleContent] = []

  /// Custom metadata that is set.
  public var custom: [String: String] = [:]

  /// Custom metadata that is removed.
  public var removed: [String] = []

  /// The media type that is set.
  public var contentType: String?

  /// Where a download is written to, and the content that was there.
  public var target: String?
  /// The content of the target before.
  public var before: OracleContent?
}

/// The answer to a call.
public struct OracleAnswer: Codable, Sendable {
  /// The kinds of answers.
  public enum Outcome: String, Codable, Sendable {
    /// It was done.
    case done
    /// There is no such object.
    case missing
    /// It was refused, and had no effect.
    case refused
    /// It was cancelled, maybe too late.
    case undecided
  }

  /// The number of the call.
  public var id: Int

  /// The kind of the answer.
  public var outcome: Outcome

  /// The content that was read.
  public var content: OracleContent?

  /// The generation of the object; 0 where the answer does not have it.
  public var generation: Int64 = 0

  /// The metadata of the object; `nil` where the answer does not have it.
  public var metadata: OracleMetadata?

  /// The length of the content as the metadata has it; -1 where the answer does not have it.
  public var size: Int64 = -1

  /// Creates an answer.
  public init(id: Int, outcome: Outcome, content: OracleContent? = nil) {
    (self.id, self.outcome, self.content) = (id, outcome, content)
  }
}

/// The metadata that the app sets.
public struct OracleMetadata: Codable, Hashable, Sendable {
  /// The generation of the metadata.
  public var generation: Int64

  /// The media type.
  public var contentType: String?

  /// The custom metadata.
  public var custom: [String: String]
}
