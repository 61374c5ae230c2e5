/// Reads the messages of a gRPC stream: a flag, four bytes of length, the bytes.
///
/// Pure. A length beyond the limit is refused when it is read, before anything of its message is kept.
struct GRPCMessageMachine {
  struct Message: Equatable {
    var bytes: [UInt8]
    var isCompressed: Bool
  }

  enum Failure: Error, Equatable {
    case unknownFlag(UInt8)
    case tooLarge(Int)
  }

  private let limit: Int
  private var header: [UInt8] = []
  private var length = 0
  private var bytes: [UInt8] = []

  /// - Parameter limit: The largest message, in bytes.
  init(limit: Int) { self.limit = limit }

  /// Whether a message has begun and not ended, which is an error at the end of a stream.
  var isInMessage: Bool { !header.isEmpty }

  /// Reads bytes, all of them.
  ///
  /// - Returns: The messages that ended in them, in order.
  mutating func feed(_ input: UnsafeBufferPointer<UInt8>) throws(Failure) -> [Message] {
    var messages: [Message] = []
    var index = 0
    while true {
      while header.isEmpty, let message = try Self.whole(input, from: &index, limit) { messages.append(message) }
      while header.count < 5 {
        guard index < input.count else { return messages }
        header.append(input[index])
        index += 1
        if header.count == 1, header[0] > 1 { throw .unknownFlag(header[0]) }
        guard header.count == 5 else { continue }
        length = header[1...].reduce(0) { $0 << 8 | Int($1) }
        guard length <= limit else { throw .tooLarge(length) }
        bytes = []
      }
      let count = min(length - bytes.count, input.count - index)
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: input[index..<index + count]))
      index += count
      guard bytes.count == length else { return messages }
      messages.append(Message(bytes: bytes, isCompressed: header[0] == 1))
      header.removeAll(keepingCapacity: true)
      bytes = []
    }
  }

  /// The message that begins at an index, if all of it is there; most are.
  private static func whole(
    _ input: UnsafeBufferPointer<UInt8>, from index: inout Int, _ limit: Int
  ) throws(Failure) -> Message? {
    guard input.count - index >= 5 else { return nil }
    let flag = input[index]
    guard flag <= 1 else { throw .unknownFlag(flag) }
    let length = input[index + 1..<index + 5].reduce(0) { $0 << 8 | Int($1) }
    guard length <= limit else { throw .tooLarge(length) }
    let start = index + 5
    guard input.count - start >= length else { return nil }
    index = start + length
    return Message(
      bytes: Array(UnsafeBufferPointer(rebasing: input[start..<start + length])), isCompressed: flag == 1)
  }

  /// Writes a message with its header into a buffer.
  static func write(_ message: [UInt8], isCompressed: Bool = false, into out: inout [UInt8]) {
    out.append(isCompressed ? 1 : 0)
    for shift in [24, 16, 8, 0] { out.append(UInt8(truncatingIfNeeded: message.count >> shift)) }
    out.append(contentsOf: message)
  }
}
