public import VestaBytes
import VestaStorageBackend

/// The JSON of a composition: the objects of which another one is made.
public struct ComposeBody: Sendable, Hashable {
  /// An object of which a part of the content is made.
  public struct Source: Sendable, Hashable {
    /// The name in the bucket of the new object.
    public var name: String
    /// The generation that is meant; `nil` for the current one.
    public var generation: Int64?
    /// The generation that the object has to have; `nil` for any.
    public var ifGenerationMatch: Int64?

    /// A source.
    public init(name: String, generation: Int64? = nil, ifGenerationMatch: Int64? = nil) {
      self.name = name
      self.generation = generation
      self.ifGenerationMatch = ifGenerationMatch
    }
  }

  /// The metadata of the new object.
  public var destination: UploadBody
  /// The sources, in order.
  public var sources: [Source]
  /// Whether the sources are deleted afterwards.
  public var deletesSources: Bool

  /// A body.
  public init(destination: UploadBody = UploadBody(), sources: [Source], deletesSources: Bool = false) {
    self.destination = destination
    self.sources = sources
    self.deletesSources = deletesSources
  }

  /// Reads a body.
  ///
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`.
  public init(json: [UInt8]) throws(BytesError) {
    let object = try JSONObject(json: json, limits: MetadataWire.limits)
    var sources: [Source] = []
    for element in object["sourceObjects"]?.array ?? [] { sources.append(try Self.source(element)) }
    guard (1...UploadLimits.sources).contains(sources.count) else {
      throw BytesError(
        .malformed, "The number of source components provided (\(sources.count)) is not 1 to \(UploadLimits.sources).")
    }
    let destination = try object["destination"]?.object.map { (json) throws(BytesError) in
      try MetadataWire.upload(json)
    }
    self.init(
      destination: destination ?? UploadBody(), sources: sources,
      deletesSources: object["deleteSourceObjects"] == .bool(true))
  }

  private static func source(_ value: JSONValue) throws(BytesError) -> Source {
    guard let object = value.object, let name = object["name"]?.string, !name.isEmpty else {
      throw BytesError(.malformed, "A source of the composition has no name.")
    }
    return Source(
      name: name, generation: try number(object["generation"]),
      ifGenerationMatch: try number(object["objectPreconditions"]?.object?["ifGenerationMatch"]))
  }

  private static func number(_ value: JSONValue?) throws(BytesError) -> Int64? {
    switch value {
    case nil, .null?: return nil
    case .string(let text)?:
      guard let number = ByteRangeWire.number(text) else { break }
      return number
    case let value?:
      guard let number = value.integer, number >= 0 else { break }
      return number
    }
    throw BytesError(.malformed, "A generation of a source is no number.")
  }
}
