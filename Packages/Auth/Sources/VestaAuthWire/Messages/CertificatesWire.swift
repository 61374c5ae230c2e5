public import VestaAuthBackend
public import VestaBytes

/// Certificates by the names of their keys: an object with a member for each.
public enum CertificatesWire {
  /// The certificates as JSON, in the order of their names.
  public static func json(of response: CertificatesResponse) throws(BytesError) -> [UInt8] {
    var object = JSONObject()
    for (name, text) in response.certificates.sorted(by: { $0.key < $1.key }) { object[name] = .string(text) }
    return try object.json()
  }

  /// Reads certificates.
  ///
  /// - Parameters:
  ///   - json: The object.
  ///   - maximumAge: For how many seconds they may be kept.
  /// - Throws: `BytesError` for anything but an object of strings.
  public static func response(json: [UInt8], maximumAge: Int64) throws(BytesError) -> CertificatesResponse {
    var certificates: [String: String] = [:]
    for member in try JSONObject(json: json).members {
      guard let text = member.value.string else { throw BytesError(.malformed, "A certificate is not a string.") }
      certificates[member.name] = text
    }
    return CertificatesResponse(certificates: certificates, maximumAge: maximumAge)
  }
}
