import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageWire
import VestaTransportInterop

/// Parts that are copied from objects.
extension PartsExchange {
  /// Makes a part of an object, or of the bytes of it that `x-goog-copy-source-range` names.
  ///
  /// The caller has to be allowed to read the object.
  func copy(_ id: String, _ number: Int, from source: ObjectName) async throws -> HTTPResponse {
    if let refusal = refusal(of: number) { return refusal }
    try await checkActive(id)
    var read = ReadRequest(object: source, preconditions: exchange.route.sourcePreconditions)
    if let generation = exchange.route.sourceGeneration { read.preconditions.ifGenerationMatch = generation }
    if let text = exchange.field("x-goog-copy-source-range") ?? exchange.field("x-amz-copy-source-range") {
      guard case .bounds(let first, let last)? = ByteRangeField(text), last < .max else {
        return refused("InvalidArgument", "The range of a copy is bytes=FIRST-LAST.")
      }
      (read.offset, read.length) = (first, last - first + 1)
    }
    let opened = try await exchange.backend.openObject(read, context: exchange.context)
    defer { opened.content.close() }
    guard read.offset + (read.length ?? 0) <= opened.object.size else {
      return refused("InvalidRange", "The object \(source.name) has \(opened.object.size) bytes.")
    }
    let made = try await store(number, of: id, expected: ContentDigest()) { sink in
      while case let bytes = try await opened.content.read(maximumLength: exchange.tuning.chunkLength), !bytes.isEmpty {
        try await sink.write(bytes)
      }
    }
    return xml(PartsWire.copied(made))
  }
}
