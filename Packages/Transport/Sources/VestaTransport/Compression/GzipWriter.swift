import CVestaZlib

/// Compresses bytes as gzip, piece by piece.
///
/// Of one thread at a time.
final class GzipWriter {
  private let stream: UnsafeMutablePointer<z_stream>
  private let room: Int
  private var isEnded = false

  /// - Parameters:
  ///   - level: 1 for the fastest to 9 for the smallest.
  ///   - room: The number of bytes that are made room for when the result is longer than was foreseen.
  /// - Returns: `nil` when there is no memory.
  init?(level: Int, room: Int = TransportTuning().gzipRoomBytes) {
    // With fewer than seven, zlib would write the mark of a flush again and again.
    self.room = max(16, room)
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    guard vesta_gzip_begin(stream, Int32(min(9, max(1, level)))) == Z_OK else {
      stream.deallocate()
      return nil
    }
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
  }

  /// Compresses a piece so that the reader can read all of it at once.
  func write(_ bytes: [UInt8]) -> [UInt8] { deflate(bytes, Z_SYNC_FLUSH) }

  /// The end after the last bytes.
  func finish(_ bytes: [UInt8] = []) -> [UInt8] {
    defer { isEnded = true }
    return isEnded ? [] : deflate(bytes, Z_FINISH)
  }

  private func deflate(_ bytes: [UInt8], _ flush: Int32) -> [UInt8] {
    var bytes = bytes
    var out: [UInt8] = []
    // Unsafe pointers, used inside the closures only: zlib reads and writes in place.
    bytes.withUnsafeMutableBufferPointer { input in
      stream.pointee.next_in = input.baseAddress
      stream.pointee.avail_in = UInt32(clamping: input.count)
      // The bound of the output for a number of bytes and the kept ones; more needs another round.
      var room = Int(deflateBound(stream, UInt(input.count))) + 64
      var isFull = true
      while isFull {
        out.append(
          contentsOf: [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            stream.pointee.next_out = buffer.baseAddress
            stream.pointee.avail_out = UInt32(clamping: buffer.count)
            _ = CVestaZlib.deflate(stream, flush)
            count = buffer.count - Int(stream.pointee.avail_out)
          })
        isFull = stream.pointee.avail_out == 0
        room = self.room
      }
    }
    return out
  }
}
