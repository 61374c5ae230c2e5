import VestaConcurrency
import VestaServiceInterop
import VestaStorageBackend

/// The room on the disk that compositions under way will fill: a small request can ask for many bytes, so what does not
/// fit is refused before the first one is written.
final class CompositionRoom: Sendable {
  private let taken = Locked<Int64>(0)

  /// The room of one composition.
  final class Space: Sendable {
    private let room: CompositionRoom
    private let rest: Locked<Int64>

    fileprivate init(_ room: CompositionRoom, _ size: Int64) {
      self.room = room
      rest = Locked(size)
    }

    /// Notes that bytes were written: the disk itself counts them now.
    func fill(_ count: Int64) {
      let filled = rest.withLock { rest in
        let filled = min(count, rest)
        rest -= filled
        return filled
      }
      room.taken.withLock { $0 -= filled }
    }

    /// Gives up what was not filled.
    func end() { fill(.max) }
  }

  /// Takes room for a number of bytes.
  ///
  /// - Throws: `resourceExhausted` where the disk has no room for them, with the other compositions under way.
  func take(_ size: Int64, in blobs: any BlobStore) async throws(StorageServiceError) -> Space {
    let free = await blobs.freeBytes() ?? .max
    let hasRoom = taken.withLock { taken in
      guard size <= free - min(taken, free) else { return false }
      taken += size
      return true
    }
    guard hasRoom else {
      throw StorageServiceError(
        .resourceExhausted, "The disk has no room for the \(size) bytes of the object. Free space and try again.",
        reason: .diskFull)
    }
    return Space(self, size)
  }
}
