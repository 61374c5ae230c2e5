import VestaBytes
import VestaServiceInterop

/// The answer of an exchange of assertions (RFC 6749); pure.
struct ExchangeAnswer: Sendable {
  /// The access token; `nil` for a failure.
  let token: String?
  /// The seconds for which it is valid.
  let lifetime: Int64?
  /// The time at which the answer was made, in seconds since 1970; `nil` where it does not say.
  let time: Int64?
  private let status: Int
  private let error: String?
  private let detail: String?

  init(status: Int, date: String?, body: [UInt8]) {
    let object = try? JSONObject(json: body)
    self.status = status
    token = status == 200 ? object?["access_token"]?.string : nil
    lifetime = object?["expires_in"]?.integer ?? object?["expires_in"]?.string.flatMap { Int64($0) }
    error = object?["error"]?.string
    detail = object?["error_description"]?.string
    time = date.flatMap(Self.seconds)
  }

  /// Whether the assertion was refused as one of another time may be.
  var isAboutTheTime: Bool { error == "invalid_grant" }

  /// The failure that the answer states.
  ///
  /// Answers that are not the exchange's, such as a page of a network in between, may be others later.
  var failure: ServiceStatus {
    guard let error else {
      return ServiceStatus(.unavailable, "The exchange of the service account has answered with HTTP status \(status).")
    }
    let code: ServiceCode = status >= 500 || status == 429 ? .unavailable : .unauthenticated
    return ServiceStatus(
      code, "The service account is refused: \(error)\(detail.map { ", \($0)" } ?? "").")
  }

  /// `Tue, 24 Nov 2026 01:30:37 GMT`, the one form in which servers write dates (RFC 9110).
  static func seconds(_ date: String) -> Int64? {
    let parts = date.split(separator: " ")
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])),
      let day = Int(parts[1]), let year = Int(parts[3]), (1970...9_999).contains(year), parts[4].utf8.count == 8
    else { return nil }
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return RFC3339.parse("\(year)-\(two(month + 1))-\(two(day))T\(parts[4])Z")?.seconds
  }
}
