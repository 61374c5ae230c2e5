public import VestaBytes

/// The framing of records in the files of an export: blocks of 32 KiB as LevelDB's log has them.
///
/// A record is one fragment, or a first, middle and a last one, each with its checksum, length and type. A block whose
/// rest has no room for the seven bytes of a header ends with zeros.
public enum ExportLog {
  static let blockLength = 32_768
  static let headerLength = 7

  /// The type of a fragment.
  enum Fragment: UInt8 {
    case full = 1
    case first = 2
    case middle = 3
    case last = 4
  }

  /// The checksum of a fragment as it is stored: CRC-32C, turned and moved so that checksums of checksums differ.
  static func checksum(_ type: Fragment, _ bytes: ArraySlice<UInt8>) -> UInt32 {
    var checksum = CRC32C()
    checksum.update([type.rawValue] + bytes)
    return (checksum.value >> 15 | checksum.value << 17) &+ 0xA282_EAD8
  }
}

/// Frames records one after another, as they are appended to a file.
public struct ExportLogWriter: Sendable {
  /// The number of bytes so far.
  public private(set) var length = 0

  /// The writer of an empty file.
  public init() {}

  /// The bytes that a record adds to the file.
  public mutating func frame(_ record: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(record.count + 2 * ExportLog.headerLength)
    var rest = record[...]
    var isFirst = true
    repeat {
      let free = ExportLog.blockLength - (length + bytes.count) % ExportLog.blockLength
      if free < ExportLog.headerLength {
        bytes.append(contentsOf: repeatElement(0, count: free))
        continue
      }
      let part = rest.prefix(free - ExportLog.headerLength)
      rest = rest.dropFirst(part.count)
      let type: ExportLog.Fragment =
        switch (isFirst, rest.isEmpty) {
        case (true, true): .full
        case (true, false): .first
        case (false, false): .middle
        case (false, true): .last
        }
      let checksum = ExportLog.checksum(type, part)
      bytes.append(contentsOf: (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (8 * $0)) })
      bytes.append(contentsOf: [UInt8(part.count & 0xFF), UInt8(part.count >> 8), type.rawValue])
      bytes.append(contentsOf: part)
      isFirst = false
    } while isFirst || !rest.isEmpty
    length += bytes.count
    return bytes
  }
}

/// Reads records from the parts of a file, as they are read.
///
/// ```swift
/// var reader = ExportLogReader()
/// while let part = try next() {
///   reader.feed(part)
///   while let record = try reader.next() { … }
/// }
/// try reader.finish()
/// ```
public struct ExportLogReader: Sendable {
  private let limit: Int
  private var waiting: [UInt8] = []
  private var start = 0
  /// The number of bytes before the ones that wait.
  private var offset = 0
  /// The fragments of a record that is not complete; `nil` between records.
  private var partial: [UInt8]?

  /// A reader.
  ///
  /// - Parameter limit: The most bytes of a record.
  public init(limit: Int = 64 << 20) { self.limit = limit }

  /// Adds bytes of the file.
  public mutating func feed(_ bytes: [UInt8]) {
    if start == waiting.count {
      waiting = bytes
    } else {
      waiting.removeFirst(start)
      waiting.append(contentsOf: bytes)
    }
    start = 0
  }

  /// The next record; `nil` where more bytes are needed.
  ///
  /// - Throws: `BytesError` with `.malformed`, and with `.limitExceeded` for a record that is too long.
  public mutating func next() throws(BytesError) -> [UInt8]? {
    while true {
      let free = ExportLog.blockLength - offset % ExportLog.blockLength
      let available = waiting.count - start
      if free < ExportLog.headerLength {
        guard available >= free else { return nil }
        advance(free)
        continue
      }
      guard available >= ExportLog.headerLength else { return nil }
      let header = waiting[start..<(start + ExportLog.headerLength)].map { UInt32($0) }
      let length = Int(header[4] | header[5] << 8)
      if header[6] == 0, length == 0 {
        // The rest of the block is padding.
        guard available >= free else { return nil }
        advance(free)
        continue
      }
      guard let type = ExportLog.Fragment(rawValue: UInt8(header[6])), length <= free - ExportLog.headerLength else {
        throw malformed("a fragment of type \(header[6]) and \(length) bytes")
      }
      guard available >= ExportLog.headerLength + length else { return nil }
      advance(ExportLog.headerLength)
      let content = waiting[start..<(start + length)]
      guard ExportLog.checksum(type, content) == header[0] | header[1] << 8 | header[2] << 16 | header[3] << 24 else {
        throw malformed("a wrong checksum")
      }
      let record = try collected(content, type)
      advance(length)
      if let record { return record }
    }
  }

  /// Checks that the file may end here: between two records, or in the zeros after the last one.
  ///
  /// - Throws: `BytesError` with `.malformed`.
  public func finish() throws(BytesError) {
    guard partial == nil, waiting[start...].allSatisfy({ $0 == 0 }) else {
      throw malformed("an end in the middle of a record")
    }
  }

  /// Takes a fragment; returns the record that it completes.
  private mutating func collected(
    _ content: ArraySlice<UInt8>, _ type: ExportLog.Fragment
  ) throws(BytesError) -> [UInt8]? {
    switch (type, partial) {
    case (.full, nil): return Array(content)
    case (.first, nil):
      partial = Array(content)
      return nil
    case (.middle, .some), (.last, .some):
      guard (partial?.count ?? 0) + content.count <= limit else {
        throw BytesError(.limitExceeded, "A record has more than \(limit) bytes.")
      }
      partial?.append(contentsOf: content)
      return type == .last ? partial.take() : nil
    default: throw malformed("a fragment that does not continue the one before")
    }
  }

  private mutating func advance(_ count: Int) {
    start += count
    offset += count
  }

  private func malformed(_ cause: String) -> BytesError {
    BytesError(
      .malformed,
      "Invalid record at byte \(offset): \(cause). Git may have converted line ends: keep exports as binary files.")
  }
}
