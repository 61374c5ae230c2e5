/// The length of the chunks of an upload; pure.
enum ChunkSize {
  /// The smallest chunk, of which all others are multiples: 256 KiB.
  static let granularity: Int64 = 256 * 1024

  /// The chunk where the app has not chosen one: 1 MiB.
  static let standard: Int64 = 1024 * 1024

  /// The largest chunk: 8 MiB, so that memory stays bounded.
  static let largest: Int64 = 8 * 1024 * 1024

  /// The length for an app's `uploadChunkSizeBytes`.
  static func length(for wanted: Int64) -> Int {
    guard wanted != .max else { return Int(standard) }
    let bounded = min(max(wanted, granularity), largest)
    return Int(bounded / granularity * granularity)
  }
}
