/// The errors of a reader, apart from the reading: a function that makes no text is small enough to be inlined.
extension ProtobufReader {
  @usableFromInline
  @inline(never)
  func malformed(_ message: String) -> BytesError {
    BytesError(.malformed, "protobuf at byte \(index): \(message)")
  }

  @usableFromInline
  @inline(never)
  static func isTooLong(_ limits: ProtobufLimits) -> BytesError {
    BytesError(.limitExceeded, "protobuf: the message is longer than \(limits.maximumSize) bytes")
  }

  @usableFromInline
  @inline(never)
  static func isTooDeep() -> BytesError { BytesError(.limitExceeded, "protobuf: messages are nested too deep") }

  @usableFromInline
  @inline(never)
  func isNoNumber(_ tag: UInt64) -> BytesError { malformed("\(tag >> 3) is no number of a field") }

  @usableFromInline
  @inline(never)
  func isOfUnknownType(_ tag: UInt64) -> BytesError {
    malformed("field \(tag >> 3) is the end of a group, or of an unknown wire type")
  }

  @usableFromInline
  @inline(never)
  func endsInside() -> BytesError { malformed("the bytes end inside field \(number)") }

  @usableFromInline
  @inline(never)
  func isLonger() -> BytesError { malformed("field \(number) is longer than the message that it is in") }

  @usableFromInline
  @inline(never)
  func isNoUTF8() -> BytesError { malformed("field \(number) is not valid UTF-8") }

  @usableFromInline
  @inline(never)
  func hasBytesLeft(_ outer: Outer) -> BytesError {
    malformed("field \(outer.number) has bytes after its content")
  }

  @usableFromInline
  @inline(never)
  func isScattered() -> BytesError {
    BytesError(
      .limitExceeded, "protobuf: too many entries of maps, such as of field \(number), do not follow one another")
  }

  @usableFromInline
  @inline(never)
  func hasNoValue() -> BytesError { malformed("an entry of field \(number) has no value") }
}
