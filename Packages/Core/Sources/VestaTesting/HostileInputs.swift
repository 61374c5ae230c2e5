import Foundation

/// Damaged messages for decoders, made without an allocation for each.
///
/// ```swift
/// let codec = HostileInputs("Notes", [
///   HostileInputs.Decoder([note.bytes]) { bytes in _ = try NoteWire.note(bytes) }
/// ])
/// let refused = codec.run(count: 1_000_000, seed: 1)
/// ```
///
/// An input is a message that a decoder reads with up to four changes: a byte replaced, removed or doubled, a mark of
/// the format or a part of another message inserted, the end cut off; one in 64 is noise. The same seed has the same
/// inputs.
public struct HostileInputs {
  /// A decoder and messages that it reads.
  public struct Decoder {
    /// The messages; none is empty.
    public let messages: [[UInt8]]

    /// Reads a message; an error is an answer like any other.
    public let read: ([UInt8]) throws -> Void

    /// A decoder.
    ///
    /// - Parameters:
    ///   - messages: Messages that it reads; short ones make more inputs a second.
    ///   - read: Reads a message; throws for one that is refused.
    public init(_ messages: [[UInt8]], _ read: @escaping ([UInt8]) throws -> Void) {
      self.messages = messages.filter { !$0.isEmpty }
      self.read = read
    }
  }

  /// The codec, for the line at the end.
  public let name: String

  /// Its decoders, which get the same number of inputs.
  public let decoders: [Decoder]

  /// The words of the format, which are inserted into messages.
  public let marks: [[UInt8]]

  /// Inputs for a codec.
  ///
  /// - Parameters:
  ///   - name: The codec, for the line at the end.
  ///   - decoders: Its decoders, one or more with a message.
  ///   - marks: The words of the format; a random byte is seldom one of them.
  public init(_ name: String, _ decoders: [Decoder], marks: [[UInt8]] = Self.textMarks) {
    self.name = name
    self.decoders = decoders.filter { !$0.messages.isEmpty }
    self.marks = marks
  }

  /// Marks of JSON, of forms and of paths.
  public static let textMarks: [[UInt8]] = [
    "{", "}", "[", "[[[[", "]", "\"", ":", ",", "\\u", "\\", "null", "true", "1e999", "-", "0", "%", "%zz", "&", "=",
    "/", "\r\n",
    "99999999999999999999", "\"x\":[],", "\u{0}", "é",
  ].map { Array($0.utf8) }

  /// Tags, lengths and numbers of protobuf.
  public static let binaryMarks: [[UInt8]] = [
    [0], [0x7F], [0x80], [0xFF], [0x0A], [0x12], [0x80, 0x80, 0x80, 0x80, 0x08], [0xFF, 0xFF, 0xFF, 0xFF, 0x0F],
    [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
    [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
    [0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0x07], [0x0B], [0x0C],
  ]

  /// Feeds every decoder damaged messages.
  ///
  /// - Parameters:
  ///   - count: The number of inputs of all decoders together.
  ///   - seed: Which inputs.
  /// - Returns: How many were refused.
  @discardableResult
  public func run(count: Int, seed: UInt64) -> Int {
    guard !decoders.isEmpty else { return 0 }
    var random = SplitMix(seed: seed)
    var refused = 0
    var input: [UInt8] = []
    input.reserveCapacity(4_096)
    for index in 0..<count {
      let decoder = decoders[index % decoders.count]
      damage(decoder.messages, &random, into: &input)
      do { try decoder.read(input) } catch { refused += 1 }
    }
    return refused
  }

  /// Makes an input in place.
  private func damage(_ messages: [[UInt8]], _ random: inout SplitMix, into input: inout [UInt8]) {
    input.removeAll(keepingCapacity: true)
    var bits = random.next()
    if bits & 63 == 0 {
      for _ in 0..<(bits >> 6 & 63) { input.append(UInt8(truncatingIfNeeded: random.next())) }
      return
    }
    input.append(contentsOf: messages[Self.index(bits >> 32, messages.count)])
    for _ in 0...(bits >> 6 & 3) where !input.isEmpty {
      bits = random.next()
      let place = Self.index(bits >> 32, input.count)
      switch bits & 15 {
      case 0...4: input[place] = UInt8(truncatingIfNeeded: bits >> 8)
      case 5, 6: input.remove(at: place)
      case 7, 8: input.insert(input[place], at: place)
      case 9...12: input.insert(contentsOf: marks[Self.index(bits & 0xFFFF_FF00, marks.count)], at: place)
      case 13, 14:
        let other = messages[Self.index(bits & 0xFFFF_FF00, messages.count)]
        let start = Int(bits >> 8 & 0xFF) % other.count
        input.insert(contentsOf: other[start..<min(other.count, start + 12)], at: place)
      default: input.removeLast(input.count - place)
      }
    }
  }

  /// An index below `count` from the low 32 bits.
  private static func index(_ bits: UInt64, _ count: Int) -> Int {
    (Int(bits & 0xFFFF_FFFF) &* count) >> 32
  }
}

extension HostileInputs {
  /// Feeds every decoder damaged messages at length, and prints how many, how fast and with how much memory.
  ///
  /// The soak has inputs until its goal is reached, or for as long as `VESTA_SECONDS` says, from the seed `VESTA_SEED`.
  ///
  /// - Parameter goal: The number of inputs; 10^8 by default.
  /// - Returns: How many were refused, and by how many bytes the memory of the process has grown since the first
  ///   inputs, at the end and at most; zeros where the system does not say.
  public func soak(goal: Int = 100_000_000) async -> (refused: Int, grown: Int, peak: Int) {
    let piece = 100_000
    run(count: min(goal / 10, 1_000_000), seed: 0)
    let before = ProcessMemory.current
    let start = ContinuousClock.now
    var refused = 0
    let count = await Soak("\(name), hostile inputs").run(units: goal) { seed in
      refused += run(count: piece, seed: seed)
      return piece
    }
    let seconds = max((ContinuousClock.now - start) / .seconds(1), 0.001)
    let after = ProcessMemory.current
    print(
      "Soak of \(name): \(count) hostile inputs, \(refused) refused, \(Int(Double(count) / seconds)) a second, "
        + "\(after.resident >> 20) MiB at the end, \(after.peak >> 20) at most, \(before.resident >> 20) at the start")
    return (refused, after.resident - before.resident, after.peak - before.peak)
  }
}

/// The memory of this process, where the system has it in `/proc`.
public struct ProcessMemory: Sendable {
  /// The bytes in memory; zero where the system does not say.
  public let resident: Int

  /// The largest number of bytes that was in memory.
  public let peak: Int

  /// The memory at this time.
  public static var current: ProcessMemory {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    func bytes(_ name: String) -> Int {
      let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
      return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 } ?? 0
    }
    return ProcessMemory(resident: bytes("VmRSS"), peak: bytes("VmHWM"))
  }
}
