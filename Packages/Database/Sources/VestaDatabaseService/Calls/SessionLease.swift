import VestaBytes

/// The right of an engine to have sessions, until a version of the store, which is a time that all engines share.
///
/// The clocks of processes have no say. An engine renews its lease when half of it is over. Another one takes it for
/// stopped when the lease is over and it has found the same row twice, half a lease apart: also where the time of the
/// store jumps, an engine that lives keeps its sessions.
struct SessionLease {
  /// The time in microseconds.
  let until: Int64

  init(until: Int64) { self.until = until }

  /// A lease from its row; a damaged one counts as over.
  init(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    until = (try? reader.zigzag()) ?? 0
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.write(zigzag: until)
    return writer.bytes
  }
}
