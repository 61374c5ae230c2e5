import VestaBytes

extension ProtobufVisitor {
  /// Visits a member of a oneof of a request.
  ///
  /// In bytes the last member of a oneof counts, as protobuf says. In JSON a second one is refused: the
  /// request is a mistake, and one of the two would be lost.
  mutating func choice<Kind: ProtobufKind, Oneof>(
    _ number: UInt32, _ name: StaticString, _ oneof: inout Oneof?, _ kind: Kind.Type,
    extract: (Oneof?) -> Kind.Value?, embed: (Kind.Value) -> Oneof?
  ) throws(BytesError) {
    let hasOther = oneof != nil
    var isSet = false
    try member(number, name, &oneof, kind, extract: extract) {
      isSet = true
      return embed($0)
    }
    if isSet, hasOther, let reader = self as? ProtobufJSONReader {
      throw reader.malformed("only one of the members of this choice can be set, and there is another one")
    }
  }
}
