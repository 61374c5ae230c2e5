import BenchmarkKit
import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreWire

/// A connection with Listen streams for one document each, read by a thread that waits.
final class ListeningSocket {
  private let socket: BlockingSocket
  private var buffer: [UInt8] = []
  /// The bytes of each stream that are not read yet; the streams have the odd numbers.
  private var data: [[UInt8]]

  /// Opens the streams, and waits until each has the document.
  init?(port: Int, document: String, streams: Int = 1) {
    guard let socket = BlockingSocket(port: port) else { return nil }
    self.socket = socket
    data = Array(repeating: [], count: streams)
    let target = ListenStreamRequest(
      database: ServerBench.database, .addTarget(Target(id: 1, .documents([document]))))
    guard let message = try? ListenRequestWire.bytes(of: target), socket.send(Self.opening(message, streams)), changed()
    else {
      return nil
    }
  }

  /// The preface, windows that are never full, and for each call its head and its first message.
  private static func opening(_ message: [UInt8], _ streams: Int) -> [UInt8] {
    var fields: [UInt8] = []
    // Literal fields without an index: names and values of less than 127 bytes.
    for (name, value) in [
      (":method", "POST"), (":scheme", "http"), (":path", ServerBench.path("Listen")), (":authority", "localhost"),
      ("content-type", "application/grpc"), ("te", "trailers"),
    ] {
      fields += [0, UInt8(name.utf8.count)]
      fields += name.utf8
      fields.append(UInt8(value.utf8.count))
      fields += value.utf8
    }
    let large: [UInt8] = [0x7F, 0xFF, 0, 0]
    var bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    bytes += [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4] as [UInt8]
    bytes += large
    bytes += [0, 0, 4, 8, 0, 0, 0, 0, 0] as [UInt8]
    bytes += large
    for stream in 0..<streams {
      bytes += head(fields.count, kind: 1, flags: 4, of: stream)
      bytes += fields
      bytes += head(message.count + 5, kind: 0, flags: 0, of: stream)
      bytes += [0] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: message.count >> $0) } + message
    }
    return bytes
  }

  private static func head(_ length: Int, kind: UInt8, flags: UInt8, of stream: Int) -> [UInt8] {
    let number = 2 * stream + 1
    return [
      UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), kind, flags, 0, 0, UInt8(number >> 8),
      UInt8(number & 0xFF),
    ]
  }

  /// Sends a ping: a server ends a connection whose peer is silent and answers no ping, and nothing is read here
  /// between two lines.
  func stayOpen() -> Bool { socket.send([0, 0, 8, 6, 0, 0, 0, 0, 0] + [UInt8](repeating: 7, count: 8)) }

  /// Waits until each stream has had the next change of the document.
  func changed() -> Bool {
    var waiting = Set(data.indices)
    while true {
      waiting = waiting.filter { !takeChange(of: $0) }
      if waiting.isEmpty { return true }
      let more = socket.some(upTo: 16_384)
      guard !more.isEmpty else { return false }
      buffer += more
      takeFrames()
    }
  }

  private func takeFrames() {
    var at = 0
    while buffer.count - at >= 9 {
      let length = buffer[at..<at + 3].reduce(0) { $0 << 8 | Int($1) }
      guard buffer.count - at >= 9 + length else { break }
      let stream = buffer[at + 5..<at + 9].reduce(0) { $0 << 8 | Int($1) } / 2
      if buffer[at + 3] == 0, data.indices.contains(stream) { data[stream] += buffer[at + 9..<at + 9 + length] }
      at += 9 + length
    }
    buffer.removeFirst(at)
  }

  /// Takes messages up to one with the field `document_change`.
  private func takeChange(of stream: Int) -> Bool {
    let bytes = data[stream]
    var at = 0
    var isFound = false
    while !isFound, bytes.count - at >= 5 {
      let length = bytes[at + 1..<at + 5].reduce(0) { $0 << 8 | Int($1) }
      guard bytes.count - at >= 5 + length else { break }
      isFound = length > 0 && bytes[at + 5] == 0x1A
      at += 5 + length
    }
    if at > 0 { data[stream].removeFirst(at) }
    return isFound
  }
}
