/// The header field `cache-control` of published keys: for how many seconds they may be kept.
public enum CacheControlWire {
  /// The text of the field.
  ///
  /// - Parameter maximumAge: The seconds; `nil` for a response that is not to be kept.
  public static func text(maximumAge: Int64?) -> String { maximumAge.map { "public, max-age=\($0)" } ?? "no-store" }

  /// Reads the seconds of `max-age`.
  ///
  /// - Parameter text: The text of the field; `nil` for a response without it.
  /// - Returns: 0 without a valid `max-age`.
  public static func maximumAge(_ text: String?) -> Int64 {
    for part in (text ?? "").split(separator: ",") {
      let pair = part.split(separator: "=")
      guard pair.count == 2, pair[0].drop(while: { $0 == " " }).lowercased() == "max-age" else { continue }
      return Int64(pair[1]).map { max(0, $0) } ?? 0
    }
    return 0
  }
}
