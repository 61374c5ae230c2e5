import VestaBytes

/// The figures at which the codec behaves differently.
public struct DatabaseWireTuning: Sendable, Hashable {
  /// The longest piece of a message that is sent, in UTF-16 code units.
  public var pieceUnits = 16_384
  /// The largest number of pieces of a message: Apple's clients read four digits.
  public var maximumPieces = 9_999
  /// The largest message that is read, in bytes.
  public var maximumMessageBytes = 64 << 20
  /// The deepest nesting of a message that is read; a tree that is deeper than data may be is the engine's to refuse.
  public var maximumDepth = 512
  /// The longest segment of long polling, in characters.
  public var segmentCharacters = 1_840
  /// The number of segments of long polling that can be waiting for an earlier one.
  public var maximumWaitingSegments = 4_096

  /// The production figures.
  public init() {}

  /// The bounds for the reader of JSON.
  var limits: JSONLimits { JSONLimits(maximumDepth: maximumDepth, maximumSize: maximumMessageBytes) }
}
