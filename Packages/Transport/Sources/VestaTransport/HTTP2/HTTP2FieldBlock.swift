import CVestaHTTP2
import VestaTransportInterop

/// The fields of a head on their way out: names and values one after the other in a buffer that is used again.
struct HTTP2FieldBlock {
  private var bytes: [UInt8] = []
  private var lengths: [(name: Int, value: Int)] = []

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    lengths.removeAll(keepingCapacity: true)
  }

  mutating func append(_ name: StaticString, _ value: StaticString) {
    append(name) { $0.append(contentsOf: UnsafeBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount)) }
  }

  mutating func append(_ name: StaticString, _ value: String) {
    append(name) { $0.append(contentsOf: value.utf8) }
  }

  mutating func append(_ name: StaticString, decimal value: Int) {
    append(name) { MessageWriter.append(decimal: value, &$0) }
  }

  mutating func append(_ name: StaticString, bytes value: ArraySlice<UInt8>) {
    append(name) { $0.append(contentsOf: value) }
  }

  private mutating func append(_ name: StaticString, _ value: (inout [UInt8]) -> Void) {
    let start = bytes.count
    bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    let middle = bytes.count
    value(&bytes)
    lengths.append((middle - start, bytes.count - middle))
  }

  /// Appends fields, without the ones that concern a connection of HTTP/1.1 (RFC 9113, section 8.2.2), and
  /// without the length, which the transport says itself.
  mutating func append(_ fields: HTTPFields) {
    fields.withEachField { name, value in
      guard Self.isSent(name.bindMemory(to: UInt8.self), value.bindMemory(to: UInt8.self)) else { return }
      bytes.append(contentsOf: name)
      bytes.append(contentsOf: value)
      lengths.append((name.count, value.count))
    }
  }

  private static func isSent(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Bool {
    switch name.count {
    case 2: !Bytes.equal(name, "te") || Bytes.equal(value, "trailers")
    case 4: !Bytes.equal(name, "host")
    case 7: !Bytes.equal(name, "upgrade")
    case 10: !Bytes.equal(name, "connection") && !Bytes.equal(name, "keep-alive")
    case 14: !Bytes.equal(name, "content-length")
    case 16: !Bytes.equal(name, "proxy-connection")
    case 17: !Bytes.equal(name, "transfer-encoding")
    default: true
    }
  }

  /// Calls with the fields as the library wants them; it copies them before it returns.
  mutating func withPairs<Value>(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Value) -> Value {
    // Unsafe pointers, used inside the closures only.
    let lengths = lengths
    return bytes.withUnsafeMutableBufferPointer { bytes in
      withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: lengths.count + 1) { pairs in
        guard var next = bytes.baseAddress else { return body(nil, 0) }
        for (index, length) in lengths.enumerated() {
          pairs.initializeElement(
            at: index,
            to: nghttp2_nv(
              name: next, value: next + length.name, namelen: length.name, valuelen: length.value, flags: 0))
          next += length.name + length.value
        }
        return body(pairs.baseAddress, lengths.count)
      }
    }
  }
}
