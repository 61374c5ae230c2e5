/// Decides which parts of a large file that is written from its beginning to its end are left behind; pure.
///
/// A copy of a gigabyte would otherwise take a gigabyte of the system's memory, which it has to find first and to write
/// to the disk when the file is synced. Each part is left twice: its bytes begin to go to the disk as soon as it is
/// written, and are forgotten when they have had the time to arrive. The beginning of a file is kept, and with it every
/// file that is not large.
///
/// With parts of 8 MiB, of which 4 may be on their way, after 64 MiB:
///
/// | written up to | left |
/// |---|---|
/// | 72 MiB | 64 to 72 MiB |
/// | 80 MiB | 72 to 80 MiB |
/// | 104 MiB | 96 to 104 MiB, and 64 to 72 MiB again |
public struct WriteBehind: Sendable {
  private static let part: Int64 = 8 << 20
  private static let onTheirWay: Int64 = 4 * part

  /// The offsets up to which bytes have been left once, and twice.
  private var left: Int64
  private var forgotten: Int64

  /// A file of which nothing was left.
  ///
  /// - Parameter start: The number of bytes that are kept.
  public init(after start: Int64 = 64 << 20) { (left, forgotten) = (start, start) }

  /// The file was written up to an offset.
  ///
  /// - Returns: The parts to leave now.
  public mutating func written(upTo end: Int64) -> [Range<Int64>] {
    guard end - left >= Self.part else { return [] }
    var parts = [left..<end]
    let arrived = min(left, end - Self.onTheirWay)
    if arrived > forgotten {
      parts.append(forgotten..<arrived)
      forgotten = arrived
    }
    left = end
    return parts
  }
}
