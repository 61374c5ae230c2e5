internal import VestaFirestoreBackend

/// A geographical point: a latitude and a longitude.
public final class GeoPoint: Sendable, Hashable, CustomStringConvertible {
  /// Degrees north, from -90 to 90.
  public let latitude: Double

  /// Degrees east, from -180 to 180.
  public let longitude: Double

  /// Creates a geo point.
  ///
  /// - Parameters:
  ///   - latitude: From -90 to 90.
  ///   - longitude: From -180 to 180. Values outside of the ranges stop the program, as in the Firebase SDK.
  public init(latitude: Double, longitude: Double) {
    precondition(
      latitude.isFinite && (-90...90).contains(latitude),
      "GeoPoint requires a latitude value in the range of [-90, 90], but was \(latitude)")
    precondition(
      longitude.isFinite && (-180...180).contains(longitude),
      "GeoPoint requires a longitude value in the range of [-180, 180], but was \(longitude)")
    self.latitude = latitude
    self.longitude = longitude
  }

  /// A geo point of the backend, taken as it is.
  init(_ wire: WireGeoPoint) {
    latitude = wire.latitude
    longitude = wire.longitude
  }

  /// The geo point as the backend stores it.
  var wire: WireGeoPoint { WireGeoPoint(latitude: latitude, longitude: longitude) }

  /// Whether two geo points have the same coordinates.
  public static func == (left: GeoPoint, right: GeoPoint) -> Bool { left.wire == right.wire }

  /// Hashes the coordinates.
  public func hash(into hasher: inout Hasher) { hasher.combine(wire) }

  /// The coordinates for a log: `<FIRGeoPoint: (52.5, 13.4)>`, as the Firebase SDK writes them.
  public var description: String { "<FIRGeoPoint: (\(latitude), \(longitude))>" }
}

/// Codes a geo point as a map of `latitude` and `longitude`; ``Firestore/Encoder`` keeps it as a geo point.
extension GeoPoint: Codable {
  private enum CodingKeys: String, CodingKey { case latitude, longitude }

  /// Reads `latitude` and `longitude`.
  ///
  /// - Throws: `DecodingError.dataCorrupted` for numbers out of range.
  public convenience init(from decoder: any Swift.Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let latitude = try container.decode(Double.self, forKey: .latitude)
    let longitude = try container.decode(Double.self, forKey: .longitude)
    guard (-90...90).contains(latitude), (-180...180).contains(longitude) else {
      let context = DecodingError.Context(
        codingPath: decoder.codingPath,
        debugDescription: "The geo point (\(latitude), \(longitude)) is outside of [-90, 90] and [-180, 180].")
      throw DecodingError.dataCorrupted(context)
    }
    self.init(latitude: latitude, longitude: longitude)
  }

  /// Writes `latitude` and `longitude`.
  public func encode(to encoder: any Swift.Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(latitude, forKey: .latitude)
    try container.encode(longitude, forKey: .longitude)
  }
}
