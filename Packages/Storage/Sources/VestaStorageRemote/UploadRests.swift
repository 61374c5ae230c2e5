import VestaConcurrency
import VestaServiceInterop
import VestaStorageBackend

/// The bytes of uploads that cannot be sent yet, because a part has to be a multiple of a length.
///
/// ```
/// parts are multiples of 4; the caller appends 6, then 3, and ends:
/// append 0, 6 bytes     sends 4 at 0, keeps 2
/// append 6, 3 bytes     sends 4 at 4, keeps 1
/// end                   sends 1 at 8 with the end
/// ```
///
/// A rest that is forgotten, as there are too many uploads, is lost: the next append fails with the offset at which the
/// service is, and the caller continues there.
final class UploadRests: Sendable {
  struct Rest: Sendable {
    var offset: Int64
    var bytes: [UInt8]
    var end: Int64 { offset + Int64(bytes.count) }
  }

  private struct State {
    var rests: [UploadID: Rest] = [:]
    /// The oldest first.
    var order: [UploadID] = []
  }

  private let limit: Int
  private let state = Locked(State())

  /// No rests.
  init(limit: Int) { self.limit = limit }

  /// Takes the rest of an upload, and puts the next bytes behind it.
  ///
  /// - Returns: The bytes and their offset.
  /// - Throws: `OUT_OF_RANGE` for bytes that do not follow the rest, which stays.
  func take(_ id: UploadID, _ offset: Int64, _ bytes: [UInt8]) throws(StorageServiceError) -> (Int64, [UInt8]) {
    let rest = state.withLock { $0.rests[id] }
    guard let rest else { return (offset, bytes) }
    guard offset == rest.end else {
      throw StorageServiceError(
        .outOfRange, "The upload has \(rest.end) bytes, and the part begins at \(offset).",
        reason: .wrongOffset(received: rest.end))
    }
    drop(id)
    return (rest.offset, rest.bytes + bytes)
  }

  /// Keeps a rest; an empty one is none.
  func keep(_ id: UploadID, _ offset: Int64, _ bytes: [UInt8]) {
    drop(id)
    guard !bytes.isEmpty else { return }
    state.withLock { state in
      state.rests[id] = Rest(offset: offset, bytes: bytes)
      state.order.append(id)
      if state.order.count > limit { state.rests[state.order.removeFirst()] = nil }
    }
  }

  /// The rest of an upload.
  func rest(of id: UploadID) -> Rest? { state.withLock { $0.rests[id] } }

  /// The bytes that follow what a service has; a rest at another place is forgotten.
  func rest(of id: UploadID, at received: Int64) -> [UInt8]? {
    guard let rest = rest(of: id) else { return nil }
    if rest.offset == received { return rest.bytes }
    drop(id)
    return nil
  }

  func drop(_ id: UploadID) {
    state.withLock { state in
      guard state.rests.removeValue(forKey: id) != nil else { return }
      state.order.removeAll { $0 == id }
    }
  }

  /// The number of uploads with a rest.
  var count: Int { state.withLock { $0.rests.count } }
}
