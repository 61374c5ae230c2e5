/// A place on earth.
public struct GeoPoint: Sendable, Hashable {
  /// Degrees north, from -90 to 90.
  public var latitude: Double

  /// Degrees east, from -180 to 180.
  public var longitude: Double

  /// A place, taken as it is; the service refuses what is out of range.
  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }

  /// Whether the two have the same coordinates, bit for bit; every NaN is the same.
  public static func == (left: GeoPoint, right: GeoPoint) -> Bool { left.bits == right.bits }

  /// Feeds the parts that equality compares to a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(bits) }

  private var bits: [UInt64] { [Value.canonicalBits(of: latitude), Value.canonicalBits(of: longitude)] }
}
