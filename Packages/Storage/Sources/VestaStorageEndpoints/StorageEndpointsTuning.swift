/// Every figure at which the behaviour of ``StorageEndpoints`` changes; tests draw small ones.
public struct StorageEndpointsTuning: Sendable, Hashable {
  /// The most bytes of a body that is no content.
  public var bodyLimit = 1 << 20

  /// The most parts of an upload by Google's XML, and their numbers.
  public var parts = 10_000

  /// The fewest bytes of such a part; the last one may have fewer.
  public var smallestPart: Int64 = 5 << 20

  /// The most bytes of the list of parts that ends such an upload.
  public var partList = 4 << 20

  /// The longest headers of a part of an upload in one request, in bytes.
  public var partHeaders = 8_192

  /// The bytes of an upload that are given to the backend at a time.
  public var chunkLength = 1 << 20

  /// The bytes of a download that are read at a time.
  public var readLength = 1 << 18

  /// The most bytes of an object, compressed or not, that is decompressed for a client: it is held in memory.
  public var decompressionLimit = 32 << 20

  /// The length of which Apple's SDK makes the parts of an upload multiples.
  public var granularity = 1 << 18

  /// How often the replacement of an object's metadata is tried while others change it.
  public var replaceAttempts = 8

  /// The most bytes of an answer to a call of a batch.
  public var batchAnswer = 4 << 20

  /// The most bytes of all answers of a batch together; calls whose answers have no room are answered with 500.
  public var batchAnswers = 16 << 20

  /// Figures that suit upstream's clients.
  public init() {}
}
